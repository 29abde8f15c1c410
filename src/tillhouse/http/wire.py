"""JSON bodies: strictly decoded, then made typed values."""

import gc
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from itertools import zip_longest
from typing import Any, NoReturn

import msgspec

from tillhouse.kit.errors import Invalid, Malformed
from tillhouse.kit.text import forbidden_character

# Deeper bodies than this are nobody's order; the decoder's own limit is the C stack.
DEPTH_MAX = 32
# Each list and object costs time to build and to check; this many are some milliseconds.
CONTAINERS_MAX = 50_000


def convert(value: object, type_: Any, *, strict: bool = True) -> Any:
    """A decoded value as its type; raises msgspec.ValidationError naming one place."""
    return msgspec.convert(value, type_, strict=strict, dec_hook=_custom)


def _custom(type_: type, value: object) -> object:
    """Types that msgspec doesn't know say themselves what they take."""
    from_wire = getattr(type_, "from_wire", None)
    if from_wire is None:
        raise NotImplementedError(f"{type_} has no from_wire")
    return from_wire(value)


def decode(body: bytes) -> Any:
    """A JSON body as plain values: exact numbers, no duplicate keys, no unstorable text."""
    containers = body.count(b"[") + body.count(b"{")
    if containers > CONTAINERS_MAX:
        raise Malformed(f"The body holds more than {CONTAINERS_MAX} lists and objects.")
    try:
        with _uncollected():
            value = _decoder.decode(body.decode("utf-8"))
    except RecursionError:
        raise Malformed(f"The body nests deeper than {DEPTH_MAX} levels.") from None
    except (ValueError, ArithmeticError) as error:
        raise Malformed(_why(error)) from None
    if containers > DEPTH_MAX:
        _check_depth(value)
    if _SUSPECT.search(body):
        _check_texts(value, "")
    return value


@contextmanager
def _uncollected() -> Iterator[None]:
    """All that a decoder makes is alive until it is done: to look for garbage is in vain."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _why(error: Exception) -> str:
    if isinstance(error, _Duplicate):
        return f"The body names the field {str(error)[:100]!r} twice in one object."
    if isinstance(error, json.JSONDecodeError):
        place = f"line {error.lineno}, column {error.colno}"
        return f"The body is no valid JSON: {error.msg.lower()} at {place}."
    if isinstance(error, UnicodeDecodeError):
        return "The body is no valid UTF-8."
    return "The body is no valid JSON: a number in it is out of all bounds."


# Where a text may hold what `forbidden_character` finds, escaped or as it is.
_SUSPECT = re.compile(rb"\\u(?:00[0189]|007[fF]|[dD][89a-fA-F])|\x7f|\xc2[\x80-\x9f]")


class _Duplicate(ValueError):
    """A key that stands twice in one object: which of them was meant?"""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        # Names keep the place where they stood first, so up to the first repetition both agree.
        both = zip_longest((name for name, _ in pairs), fields)
        raise _Duplicate(next(name for name, first in both if name != first))
    return fields


def _no_constant(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is no JSON number", "", 0)


_decoder = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=Decimal, parse_constant=_no_constant
)


def _check_depth(value: object) -> None:
    level = [value]
    for _ in range(DEPTH_MAX):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        level = [item for item in below if isinstance(item, dict | list)]
        if not level:
            return
    raise Malformed(f"The body nests deeper than {DEPTH_MAX} levels.")


def _check_texts(value: object, path: str) -> None:
    """PostgreSQL stores no NUL, and a lone surrogate is no character."""
    if isinstance(value, str):
        if forbidden_character(value):
            raise Invalid.field(path or "body", "holds a control character or half a surrogate")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_texts(key, path)
            _check_texts(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            _check_texts(item, f"{path}[{place}]")
