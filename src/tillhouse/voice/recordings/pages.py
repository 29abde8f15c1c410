"""Recordings, at addresses that are signed and good for a day."""

import asyncio
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

from tillhouse.access.process import Services
from tillhouse.http.ranges import file_page
from tillhouse.http.raw import RawAnswer, RawRequest, RawRoute
from tillhouse.kit.errors import Missing
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.kit.secrets import is_signed, sign
from tillhouse.voice.recordings.recorder import recordings_folder
from tillhouse.voice.recordings.store import find_file

VALID_FOR = timedelta(days=1)
PATH = "/recordings/{book_id}/{call_id}"
_UNTIL = re.compile("[0-9]{1,11}")


class NoRecordingFile(
    Missing,
    message="There is no recording at this address, or the address has expired: "
    "ask the call for a new one.",
):
    """Expired, tampered with, deleted or never given out: all look alike."""


async def show(services: Services, asked: RawRequest) -> RawAnswer:
    """The file at a signed address, or a part of it."""
    book_id, call_id = asked.ids("book_id", "call_id", missing=NoRecordingFile)
    key = BookKey(BookId(book_id), call_id)
    if not is_good_address(services, key, asked.query, asked.now):
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


PAGE = RawRoute(method="GET", path=PATH, handler=show, missing=NoRecordingFile)
"""The raw route of recordings."""


def url_of(services: Services, key: BookKey, given_at: datetime) -> str:
    """The address of a recording, good for a day from then."""
    until = str(int((given_at + VALID_FOR).timestamp()))
    given = {
        "until": until,
        "mark": sign(_signing_key(services), str(key.book_id), str(key.id), until),
    }
    base = services.settings.public_url
    return f"{base}/recordings/{key.book_id}/{key.id}?{urlencode(given)}"


def is_good_address(
    services: Services, key: BookKey, query: Mapping[str, str], now: datetime
) -> bool:
    """Whether an address was given out, and isn't over."""
    until, mark = query.get("until", ""), query.get("mark", "")
    is_ours = is_signed(_signing_key(services), mark, str(key.book_id), str(key.id), until)
    return bool(is_ours and _UNTIL.fullmatch(until) and int(until) > now.timestamp())


def _signing_key(services: Services) -> bytes:
    return services.vault.derive("recording addresses")
