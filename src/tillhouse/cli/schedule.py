"""Backups by schedule: a thread starts a process for each, so that no request waits for one."""

import contextlib
import subprocess
import sys

import structlog

from tillhouse.cli.background import Background
from tillhouse.cli.kept_backups import is_due
from tillhouse.settings import Settings

LOOK_EVERY_S = 60.0

log = structlog.get_logger()


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
