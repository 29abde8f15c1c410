"""Work in threads beside the server: backups by schedule, and the embedded server brought back."""

import contextlib
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

import structlog

from tillhouse.cli.kept_backups import is_due
from tillhouse.db.embedded import Embedded, EmbeddedError
from tillhouse.settings import Settings

# Whether its process lives is asked often, for that costs next to nothing; whether it answers, at
# most once a second, for the server starts a process to be asked.
GLANCE_S = 0.1
GLANCES = 10
LOOK_EVERY_S = 60.0

log = structlog.get_logger()


class Background(ABC):
    """A thread that runs as long as a `with` block lasts."""

    def __init__(self, name: str) -> None:
        self.over = threading.Event()
        self._thread = threading.Thread(target=self.run, name=name)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Tell the work that it is over, and wait until it has ended."""
        self.over.set()
        self._thread.join()

    @abstractmethod
    def run(self) -> None:
        """Work until `over` is set."""


class Schedule(Background):
    """Looks once a minute whether a backup is due; without a setting there is nothing to do."""

    def __init__(self, settings: Settings) -> None:
        super().__init__("backup schedule")
        self._settings = settings
        self._backup: subprocess.Popen[str] | None = None

    def end_backup(self) -> None:
        """End the one that is under way: it removes its draft."""
        if self._backup is not None:
            with contextlib.suppress(ProcessLookupError):
                self._backup.terminate()

    def run(self) -> None:
        """Look, and look again, until it is over."""
        if self._settings.backup_every_hours == 0:
            return
        while True:
            try:
                if is_due(self._settings):
                    self._back_up()
            except OSError as error:
                log.warning("backup_failed", error=str(error))
            if self.over.wait(LOOK_EVERY_S):
                return

    def _back_up(self) -> None:
        command = [sys.executable, "-P", "-m", "tillhouse", "backup", "--if-due", "--json"]
        # The terminal's Ctrl-C is for us; we end the backup.
        process = self._backup = subprocess.Popen(
            [*command, "--data", str(self._settings.data)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        while True:
            try:
                told, complaint = process.communicate(timeout=0.5)
                break
            except subprocess.TimeoutExpired:
                if self.over.is_set():
                    self.end_backup()
        if process.returncode == 0:
            log.info("backup_made", told=told.strip())
        elif not self.over.is_set():
            log.warning("backup_failed", error=complaint.strip())


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
