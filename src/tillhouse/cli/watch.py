"""Brings the embedded server back when it was killed, while others serve."""

import structlog

from tillhouse.cli.background import Background
from tillhouse.db.embedded import Embedded, EmbeddedError

# Whether its process lives is asked often, for that costs next to nothing; whether it answers, at
# most once a second, for the server starts a process to be asked.
GLANCE_S = 0.1
GLANCES = 10

log = structlog.get_logger()


class ServerWatch(Background):
    """Looks after the server in a thread; without a server of ours there is nothing to do."""

    def __init__(self, server: Embedded | None) -> None:
        super().__init__("postgres watch")
        self._server = server

    def run(self) -> None:
        """Look, and look again, until it is over."""
        if (server := self._server) is None:
            return
        glances = 0
        while not self.over.wait(GLANCE_S):
            glances += 1
            if glances < GLANCES and server.is_alive():
                continue
            glances = 0
            try:
                if server.ensure_running():
                    log.error("database_started_again", pid=server.pid)
            except (EmbeddedError, OSError) as error:
                log.warning("database_down", error=str(error))
