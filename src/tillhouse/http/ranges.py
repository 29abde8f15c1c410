"""Files and parts of them: one range of bytes, as players ask for it (RFC 9110, 14)."""

import re
from collections.abc import Awaitable, Callable

from tillhouse.http.problems import Headers
from tillhouse.http.raw import RawAnswer, RawRequest
from tillhouse.kit.errors import OutOfRange

# First and last byte, or how many of the last.
_RANGE = re.compile(r"bytes=(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))", re.IGNORECASE)

# Reads so many bytes from there on.
Read = Callable[[int, int], Awaitable[bytes]]


async def file_page(
    asked: RawRequest, content_type: str, size: int, read: Read, headers: Headers
) -> RawAnswer:
    """A file of this size, or the part of it that is asked for; no more than that is read."""
    part = _part(asked, size)
    own = [(b"accept-ranges", b"bytes"), *headers]
    if part is None:
        return RawAnswer(content_type, await read(0, size), headers=own)
    start, end = part
    told = b"bytes %d-%d/%d" % (start, end - 1, size)
    body = await read(start, end - start)
    return RawAnswer(content_type, body, status=206, headers=[*own, (b"content-range", told)])


def _part(asked: RawRequest, size: int) -> tuple[int, int] | None:
    """Where the range begins and ends; None for all of it, as for forms that are not served.

    With `If-Range` it is the whole, since no answer has a validator that it could name.
    """
    told = asked.header("range")
    if told is None or asked.method != "GET" or asked.header("if-range") is not None:
        return None
    found = _RANGE.fullmatch(told.strip())
    if found is None:
        return None
    first, last, suffix = found.groups()
    if suffix is not None:
        start, end = max(0, size - int(suffix)), size
    else:
        start, end = int(first), min(size, int(last) + 1 if last else size)
        if last and int(last) < start:
            return None
    if start >= size:
        raise OutOfRange(size)
    return start, end
