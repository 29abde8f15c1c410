"""Backups by schedule: a thread starts a process for each, so that no request waits for one."""

import subprocess
import sys
import threading
from types import TracebackType
from typing import Self

import structlog

from tillhouse.cli.kept_backups import is_due
from tillhouse.settings import Settings

LOOK_EVERY_S = 60.0
STOP_WITHIN_S = 10.0

log = structlog.get_logger()


class Schedule:
    """Looks once a minute whether a backup is due; without a setting there is nothing to do."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="backup schedule")

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
        if self._settings.backup_every_hours == 0:
            return
        while True:
            try:
                if is_due(self._settings):
                    self._back_up()
            except OSError as error:
                log.warning("backup_failed", error=str(error))
            if self._over.wait(LOOK_EVERY_S):
                return

    def _back_up(self) -> None:
        command = [sys.executable, "-P", "-m", "tillhouse", "backup", "--if-due", "--json"]
        # The terminal's Ctrl-C is for us; we end the backup.
        process = subprocess.Popen(
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
                if self._over.is_set():
                    process.terminate()
        if process.returncode == 0:
            log.info("backup_made", told=told.strip())
        elif not self._over.is_set():
            log.warning("backup_failed", error=complaint.strip())
