"""JSON bodies: strictly decoded, then made typed values."""

import gc
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from itertools import zip_longest
from typing import Any

import msgspec

from tillhouse.kit import text as texts
from tillhouse.kit.errors import FieldError, Malformed, check
from tillhouse.kit.values import NO_LISTS, ListedName, Lists

# No request needs a deeper body than this; the decoder's own limit is the C stack.
DEPTH_MAX = 32
# Each list and object costs time to build and to check; this many are some milliseconds.
CONTAINERS_MAX = 50_000
# Of so many unfit values each is told.
_TOLD_MAX = 100


class Unfit:
    """A value that no field takes; it keeps its place, so that the rest can be judged."""

    __slots__ = ("_constant", "_reason")

    def __init__(self, *, constant: str = "", reason: str = "") -> None:
        """Note a wrong number as it was given, or why a text can't be taken."""
        self._constant = constant
        self._reason = reason

    def told(self, wanted: str = "must be a number") -> str:
        """The fault, for the field that holds it."""
        return self._reason or f"{wanted.partition(', not ')[0]}; {self._constant} is none"


# Constants that the decoder accepts beside JSON's numbers.
_NO_NUMBERS = {name: Unfit(constant=name) for name in ("NaN", "Infinity", "-Infinity")}


def convert(value: object, type_: Any, lists: Lists = NO_LISTS) -> Any:
    """A decoded value as its type; raises msgspec.ValidationError naming one place."""
    if not lists:
        return msgspec.convert(value, type_, dec_hook=_custom)

    def listed(type_: type, value: object) -> object:
        if issubclass(type_, ListedName):
            return type_.from_list(value, lists)
        return _custom(type_, value)

    return msgspec.convert(value, type_, dec_hook=listed)


def _custom(type_: type, value: object) -> object:
    """Types that msgspec doesn't know read their values themselves."""
    from_wire = getattr(type_, "from_wire", None)
    if from_wire is None:
        raise NotImplementedError(f"{type_} has no from_wire")
    return from_wire(value)


def decode(body: bytes) -> Any:
    """A JSON body as plain values: exact numbers, no duplicate keys, no unstorable text."""
    value, unfit = read(body)
    check(unfit)
    return value


def read(body: bytes) -> tuple[Any, list[FieldError]]:
    """The same with `Unfit` in the place of unfit values, and their fields."""
    containers = body.count(b"[") + body.count(b"{")
    if containers > CONTAINERS_MAX:
        raise Malformed(f"The body holds more than {CONTAINERS_MAX} lists and objects.")
    try:
        with _uncollected():
            value = _decode(body.decode("utf-8"))
    except RecursionError:
        raise Malformed(f"The body nests deeper than {DEPTH_MAX} levels.") from None
    except ValueError as error:
        raise Malformed(_why(error)) from None
    if containers > DEPTH_MAX:
        _check_depth(value)
    unfit: list[FieldError] = []
    if b"NaN" in body or b"Infinity" in body or _SUSPECT.search(body):
        value = _fit(value, unfit)
    return value, unfit


def _decode(text: str) -> Any:
    try:
        return _strict.decode(text)
    except (json.JSONDecodeError, _Duplicate):
        raise
    except (ValueError, ArithmeticError):
        # A number is out of all bounds. Only now is each looked at by a function of ours.
        return _lenient.decode(text)


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


def _why(error: ValueError) -> str:
    if isinstance(error, _Duplicate):
        return f"The body names the field {str(error)[:100]!r} twice in one object."
    if isinstance(error, json.JSONDecodeError):
        location = f"line {error.lineno}, column {error.colno}"
        return f"The body is no valid JSON: {error.msg.lower()} at {location}."
    return "The body is no valid UTF-8."


# Where a text may be unfit, escaped or as it is: controls, and all from the first mark on.
_SUSPECT = re.compile(rb"\\u(?:00[0189]|007[fF]|(?!00))|\x7f|\xc2[\x80-\x9f]|[\xcc-\xf4]")


class _Duplicate(ValueError):
    """A key that stands twice in one object: which of them was meant?"""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        # Names keep the place where they stood first, so up to the first repetition both agree.
        both = zip_longest((name for name, _ in pairs), fields)
        raise _Duplicate(next(name for name, first in both if name != first))
    return fields


# A number beyond the decoder is read as the largest, or the smallest, that it can hold: the rule
# of each field refuses both alike.
_DIGITS_MAX = 4_000
_EXPONENT_MAX = 999_999_999_999_999_999


def _integer(text: str) -> int:
    return int(text[:_DIGITS_MAX])


def _fraction(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        mantissa, _, exponent = text.lower().partition("e")
        if not mantissa.strip("-0."):
            return Decimal(0)
        edge = -_EXPONENT_MAX if exponent.startswith("-") else _EXPONENT_MAX
        return Decimal(f"{'-' if mantissa.startswith('-') else ''}1e{edge}")


_strict = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=Decimal, parse_constant=_NO_NUMBERS.__getitem__
)
_lenient = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_float=_fraction,
    parse_int=_integer,
    parse_constant=_NO_NUMBERS.__getitem__,
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


def _fit(value: object, unfit: list[FieldError]) -> object:
    """The value with `Unfit` for each text that can't be taken."""
    if isinstance(value, dict | list):
        _fit_within(value, "", unfit)
        return value
    found = _unfit(value)
    if found is not None:
        _tell(unfit, "", found)
    return found or value


def _fit_within(value: Any, path: str, unfit: list[FieldError]) -> None:
    if isinstance(value, dict) and texts.unfit("".join(value)):
        for key, reason in [(key, texts.unfit(key)) for key in value]:
            if reason:
                del value[key]
                _tell(unfit, path, Unfit(reason=reason))
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for location, item in entries:
        # Most are told apart without a call: a hostile body has hundreds of thousands.
        kind = type(item)
        if kind is str and item.isprintable() and len(item) <= texts.MARKS_MAX:
            continue
        if kind is dict or kind is list:
            _fit_within(item, _below(path, location), unfit)
        elif (kind is str or kind is Unfit) and (found := _unfit(item)):
            # The place is there already, so that the container keeps its size during the walk.
            value[location] = found
            if len(unfit) < _TOLD_MAX:
                _tell(unfit, _below(path, location), found)


def _unfit(value: object) -> Unfit | None:
    if isinstance(value, str):
        reason = texts.unfit(value)
        return Unfit(reason=reason) if reason else None
    return value if isinstance(value, Unfit) else None


def _below(path: str, location: str | int) -> str:
    if isinstance(location, int):
        return f"{path}[{location}]"
    return f"{path}.{location[:100]}" if path else location[:100]


def _tell(unfit: list[FieldError], path: str, value: Unfit) -> None:
    if len(unfit) < _TOLD_MAX:
        unfit.append(FieldError(path or "body", value.told()))
