"""From a query string to its struct; unknown and repeated parameters are refused by name.

And from a segment of the path to its value.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin
from urllib.parse import parse_qsl
from uuid import UUID

import msgspec
from msgspec.structs import FieldInfo

from tillhouse.http.fields import choices, fields_of, inner_type, sentence, unknown
from tillhouse.http.wire import convert
from tillhouse.kit.errors import FieldError, Invalid, Missing
from tillhouse.kit.text import unfit
from tillhouse.kit.values import NO_LISTS, Lists, Search

PARAMETERS_MAX = 100
_WHOLE = re.compile("-?[0-9]{1,4000}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def path_uuid(text: str) -> UUID:
    """A path segment as an id; a text that can't be one names no row."""
    if not _UUID.fullmatch(text):
        raise Missing
    return UUID(text)


def path_value(text: str, type_: Any) -> object:
    """A path segment as its type; a text that can't be one names no row."""
    if type_ is UUID or getattr(type_, "__supertype__", None) is UUID:
        return path_uuid(text)
    if get_origin(type_) is Literal and text in get_args(type_):
        return text
    raise Missing


def parse_query(raw: bytes, type_: Any, lists: Lists = NO_LISTS) -> Any:
    """The parameters as `type_`, or `Invalid` with every wrong one."""
    pairs, errors = _pairs(raw) if raw else ([], [])
    fields = fields_of(type_)
    given, repeated = _joined(pairs, fields)
    values: dict[str, object] = {}
    for name, text in given.items():
        if reason := unfit(name) or unfit(text):
            errors.append(FieldError(name[:100], reason))
            values[name] = None
        elif name not in fields:
            errors.append(FieldError(name[:100], unknown(name, list(fields), "parameter")))
        elif name in repeated:
            errors.append(FieldError(name, "is given twice; send one"))
            values[name] = None
        else:
            values[name], wrong = _value(text, fields[name].type, lists)
            errors += [FieldError(name, wrong)] if wrong else []
    for name, field in fields.items():
        if field.required and name not in values:
            errors.append(FieldError(name, "is required"))
    if errors:
        raise Invalid(errors)
    return type_(**{fields[name].name: value for name, value in values.items()})


def _joined(
    pairs: list[tuple[str, str]], fields: Mapping[str, FieldInfo]
) -> tuple[dict[str, str], set[str]]:
    """Each parameter once, the parts of a repeated list together; and other repeated names."""
    given: dict[str, list[str]] = {}
    for name, text in pairs:
        given.setdefault(name, []).append(text)
    joined = {name: ",".join(texts) for name, texts in given.items()}
    repeated = {
        name
        for name, texts in given.items()
        if len(texts) > 1 and name in fields and not _is_list(fields[name].type)
    }
    return joined, repeated


def _pairs(raw: bytes) -> tuple[list[tuple[str, str]], list[FieldError]]:
    try:
        pairs = parse_qsl(
            raw.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=PARAMETERS_MAX,
        )
    except ValueError:
        return [], [FieldError("query", "must be URL-encoded UTF-8 with at most 100 parameters")]
    return pairs, []


def _plain(text: str, type_: Any) -> object:
    """Numbers and booleans in their one spelling; msgspec's lax mode takes `null` and `1e1`."""
    if type_ is bool:
        return {"true": True, "false": False}.get(text, text)
    return int(text) if type_ is int and _WHOLE.fullmatch(text) else text


def _is_list(type_: Any) -> bool:
    return get_origin(inner_type(type_)) in (list, tuple)


def _value(text: str, type_: Any, lists: Lists) -> tuple[object, str | None]:
    inner = inner_type(type_)
    if inner is Search and not text.strip():
        # Every search form sends it when nothing was typed.
        return None, None
    if _is_list(inner):
        item = inner_type(get_args(inner)[0])
        raw: object = [_plain(part.strip(), item) for part in text.split(",")]
    else:
        raw = _plain(text, inner)
    try:
        return convert(raw, type_, lists), None
    except msgspec.ValidationError as error:
        return None, choices(type_) or _sentence(error)


def _sentence(error: msgspec.ValidationError) -> str:
    """Without the type that came, as everything in a query is text, and without null."""
    return sentence(error).partition(", not ")[0].replace(" or null", "")
