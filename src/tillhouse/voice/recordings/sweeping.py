"""Recordings are deleted once they are older than the operator keeps them.

So are files without a fetcher: those of a worker that died while people talked, and those
that were complete when it died, before their row was written.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path

from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now
from tillhouse.voice.recordings.recorder import recording_key, recordings_folder
from tillhouse.voice.recordings.store import delete_recordings, list_files

_ROWS = 100
# People who talk add a second of sound each second, and a row follows its file at once.
_UNTOUCHED_S = 3600.0
# Older files had several rounds in which to be missed.
_LOOKED_AT_S = 3 * 86_400.0


def sweep(services: Services) -> LocalKind:
    """The chore that deletes them."""
    folder = recordings_folder(services.settings)

    async def run(db: Db, _job: Job) -> bool:
        kept_for = timedelta(days=services.settings.recording_retention_days)
        rows = await delete_recordings(db, now() - kept_for, _ROWS)
        # Before the commit: a row that is there again after a crash leads to nothing, and is swept.
        await asyncio.to_thread(_delete, [folder / row["file"] for row in rows])
        await _sweep_left_behind(db, folder)
        return len(rows) == _ROWS

    return LocalKind(name="voice_recordings", run=run, every=timedelta(hours=1))


async def _sweep_left_behind(db: Db, folder: Path) -> None:
    """Delete files that no call leads to, and none will."""
    unfinished, whole = await asyncio.to_thread(_untouched, folder, time.time())
    keys = {file: recording_key(file) for file in whole}
    known = await list_files(db, [key for key in keys.values() if key is not None])
    lost = [file for file in whole if str(file.relative_to(folder)) not in known]
    await asyncio.to_thread(_delete, [*unfinished, *lost])


def _untouched(folder: Path, at_s: float) -> tuple[Sequence[Path], Sequence[Path]]:
    """Files not written to for a while: unfinished ones, and whole ones."""
    unfinished = [file for file in folder.glob("*/*.partial") if _age_s(file, at_s) > _UNTOUCHED_S]
    whole = [
        file for file in folder.glob("*/*.wav")
        if _UNTOUCHED_S < _age_s(file, at_s) < _LOOKED_AT_S
    ]  # fmt: skip
    return unfinished, whole


def _age_s(file: Path, at_s: float) -> float:
    try:
        return at_s - file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _delete(files: Iterable[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)
