"""Brings the embedded server back when it was killed, while others serve."""

import threading
from types import TracebackType
from typing import Self

import structlog

from tillhouse.db.embedded import Embedded, EmbeddedError

# Whether its process lives is asked often, for that costs next to nothing; whether it answers, at
# most once a second, for the server starts a process to be asked.
GLANCE_S = 0.1
GLANCES = 10

log = structlog.get_logger()


class Watch:
    """Looks after the server in a thread; without a server of ours there is nothing to do."""

    def __init__(self, server: Embedded | None) -> None:
        self._server = server
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="postgres watch")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        if (server := self._server) is None:
            return
        glances = 0
        while not self._over.wait(GLANCE_S):
            glances += 1
            if glances < GLANCES and server.is_alive():
                continue
            glances = 0
            try:
                if server.ensure_running():
                    log.error("database_started_again", pid=server.pid)
            except (EmbeddedError, OSError) as error:
                log.warning("database_down", error=str(error))
