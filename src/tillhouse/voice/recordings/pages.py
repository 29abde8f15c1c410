"""Recordings, for those who were given an address."""

import asyncio
import re
from pathlib import Path
from uuid import UUID

from tillhouse.access.process import Services
from tillhouse.http.ranges import file_page
from tillhouse.http.raw import RawAnswer, RawRequest, RawRoute
from tillhouse.kit.errors import Missing
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.voice.recordings import addresses
from tillhouse.voice.recordings.folder import recordings_folder
from tillhouse.voice.recordings.store import find_file

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class NoRecordingFile(
    Missing,
    message="There is no recording at this address, or the address has expired: "
    "ask the call for a new one.",
):
    """Expired, tampered with, deleted or never given out: all look alike."""


async def show(services: Services, asked: RawRequest) -> RawAnswer:
    """The file at a signed address, or a part of it."""
    parts = asked.path["book_id"], asked.path["call_id"]
    if not all(map(_UUID.fullmatch, parts)):
        raise NoRecordingFile
    key = BookKey(BookId(UUID(parts[0])), UUID(parts[1]))
    if not addresses.is_good(services, key, asked.query, asked.now):
        raise NoRecordingFile
    async with services.pool.reading() as db:
        name = await find_file(db, key)
    if name is None:
        raise NoRecordingFile
    file = recordings_folder(services.settings) / name
    headers = [
        (b"content-disposition", f'inline; filename="call-{key.id}.wav"'.encode()),
        (b"x-robots-tag", b"noindex"),
    ]

    async def read(start: int, length: int) -> bytes:
        return await asyncio.to_thread(_read, file, start, length)

    try:
        size = (await asyncio.to_thread(file.stat)).st_size
        return await file_page(asked, "audio/wav", size, read, headers)
    except FileNotFoundError as error:
        raise NoRecordingFile from error


def _read(path: Path, start: int, length: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(length)


def pages() -> tuple[RawRoute, ...]:
    """The raw routes of recordings."""
    return (RawRoute(method="GET", path=addresses.PATH, handler=show, missing=NoRecordingFile),)
