"""Where recordings lie; records one attempt, of which nothing is left if it is unanswered."""

from pathlib import Path
from uuid import UUID

import msgspec

from tillhouse.kit.ids import BookId, BookKey
from tillhouse.providers.telephony.provider import SAMPLES_PER_SECOND
from tillhouse.providers.telephony.wav import StereoWav
from tillhouse.settings import Settings

_SAMPLE_BYTES = 2


class RecordedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A recording that is complete, and on disk."""

    path: Path
    duration_ms: int
    size_bytes: int


class CallRecorder:
    """Takes both sides of a call as they come."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._wav: StereoWav | None = None
        self._samples = 0

    def write(self, agent: bytes, customer: bytes) -> None:
        """Add the sound of both sides in the same time; the shorter ends in silence."""
        if self._wav is None:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._wav = StereoWav(self._path)
        self._wav.write(agent, customer)
        self._samples += max(len(agent), len(customer)) // _SAMPLE_BYTES

    def close(self) -> RecordedFile | None:
        """Complete the file, which has its name from now on; None when nothing was recorded."""
        if self._wav is None:
            return None
        self._wav.finish()
        self._wav = None
        return RecordedFile(
            path=self._path,
            duration_ms=self._samples * 1000 // SAMPLES_PER_SECOND,
            size_bytes=self._path.stat().st_size,
        )


def recording_name(key: BookKey) -> str:
    """The path of a call's recording in the folder of recordings."""
    return f"{key.book_id}/{key.id}.wav"


def recording_key(file: Path) -> BookKey | None:
    """The call that a file is named after."""
    try:
        return BookKey(BookId(UUID(file.parent.name)), UUID(file.stem))
    except ValueError:
        return None


def recordings_folder(settings: Settings) -> Path:
    """The folder of all recordings."""
    return settings.data / "recordings"
