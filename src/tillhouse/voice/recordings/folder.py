"""Where recordings lie: a folder for each book, a file for each call."""

from pathlib import Path
from uuid import UUID

from tillhouse.kit.ids import BookId, BookKey
from tillhouse.settings import Settings


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
