"""Recordings are deleted once they are older than the operator keeps them."""

import asyncio
import time
from datetime import timedelta
from pathlib import Path

from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now
from tillhouse.voice.recordings.folder import recordings_folder
from tillhouse.voice.recordings.store import delete_recordings

_ROWS = 100
_UNFINISHED_FOR = timedelta(days=1)


def sweep(services: Services) -> LocalKind:
    """The chore that deletes them."""
    folder = recordings_folder(services.settings)

    async def run(db: Db, _job: Job) -> bool:
        kept_for = timedelta(days=services.settings.recording_retention_days)
        rows = await delete_recordings(db, now() - kept_for, _ROWS)
        files = [folder / row["file"] for row in rows]
        # Before the commit: a row that is there again after a crash leads to nothing, and is swept.
        await asyncio.to_thread(_delete, files, folder)
        return len(rows) == _ROWS

    return LocalKind(name="voice_recordings", run=run, every=timedelta(hours=1))


def _delete(files: list[Path], folder: Path) -> None:
    for file in files:
        file.unlink(missing_ok=True)
    # The worker that wrote them has gone; no call lasts a day.
    oldest_s = time.time() - _UNFINISHED_FOR.total_seconds()
    for unfinished in folder.glob("*/*.partial"):
        if unfinished.stat().st_mtime < oldest_s:
            unfinished.unlink(missing_ok=True)
