"""Where recordings lie: a folder for each book, a file for each call."""

from pathlib import Path

from tillhouse.kit.ids import BookKey
from tillhouse.settings import Settings


def recording_name(key: BookKey) -> str:
    """The path of a call's recording in the folder of recordings."""
    return f"{key.book_id}/{key.id}.wav"


def recordings_folder(settings: Settings) -> Path:
    """The folder of all recordings."""
    return settings.data / "recordings"
