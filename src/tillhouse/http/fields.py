"""From a decoded body or a query to its struct; every wrong field is named, not the first.

First bodies; then the parameters of a query, of which unknown and repeated ones are refused by
name; and from a segment of the path to its value.
"""

import re
import types
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from urllib.parse import parse_qsl
from uuid import UUID

import msgspec
from msgspec.structs import FieldInfo

from tillhouse.http.wire import Unfit, convert
from tillhouse.kit.errors import FieldError, Invalid, Missing
from tillhouse.kit.partial import InvalidField, PartialBody
from tillhouse.kit.suggestions import nearest
from tillhouse.kit.text import unfit
from tillhouse.kit.values import NO_LISTS, Lists, Search

# A body with thousands of mistakes gets the first of them.
ERRORS_MAX = 100
# Of a longer list the items aren't judged one by one once something in it is wrong.
ITEMS_MAX = 1_000

# The text that msgspec puts between a sentence and the path that it is about.
_INSIDE = " - at "
_NOT_UNFIT = f"not `{Unfit.__name__}`"


class Form(msgspec.Struct, frozen=True):
    """A body as it was read, and everything that is wrong with its form."""

    # The body as plain values.
    decoded: Any
    # The same as its type; None when something is wrong.
    body: Any
    wrong: list[FieldError]


def form_of(decoded: Any, unfit: list[FieldError], type_: Any, lists: Lists = NO_LISTS) -> Form:
    """A body that was read as its type."""
    try:
        body, wrong = parse(decoded, type_, lists), []
    except Invalid as problem:
        body, wrong = None, problem.details or []
    # A text that can't be taken is told by itself, not by the value that holds it.
    wrong = [error for error in wrong if not error.message.endswith(_NOT_UNFIT)]
    named = {error.field for error in wrong}
    wrong = [*wrong, *(error for error in unfit if not _is_told(error.field, named))]
    return Form(decoded, None if wrong else body, wrong[:ERRORS_MAX])


def all_errors(
    wrong: list[FieldError], formal: list[FieldError], broken: list[FieldError]
) -> Invalid:
    """Everything that is wrong: a bad name or a bad header doesn't hide a past date."""
    named = {error.field for error in formal}
    more = [error for error in broken if error.field not in named]
    return Invalid([*wrong, *formal, *more][:ERRORS_MAX])


def _is_told(field: str, named: set[str]) -> bool:
    """Whether the field or one that holds it is named already."""
    while field not in named:
        field = field[: max(field.rfind("."), field.rfind("["), 0)]
        if not field:
            return False
    return True


def parse(value: object, type_: Any, lists: Lists = NO_LISTS) -> Any:
    """The value as `type_`, or `Invalid` with every wrong field."""
    try:
        return convert(value, type_, lists)
    except msgspec.ValidationError as error:
        if not isinstance(value, dict):
            raise Invalid.field("body", "must be a JSON object") from None
        errors = list(islice(_struct_errors(value, type_, lists, ""), ERRORS_MAX))
        raise Invalid(errors or [FieldError("body", sentence(error))]) from None


def right_parts(value: object, type_: Any, lists: Lists = NO_LISTS) -> Any:
    """The valid parts of an invalid value: see `kit/partial.py`."""
    try:
        return convert(value, type_, lists)
    except msgspec.ValidationError:
        inner = inner_type(type_)
        if isinstance(value, dict) and _is_struct(inner):
            return _right_fields(value, inner, lists)
        if isinstance(value, list) and get_origin(inner) is list:
            return _right_items(value, get_args(inner)[0], lists)
        raise InvalidField from None


def _right_fields(value: dict[str, Any], type_: Any, lists: Lists) -> PartialBody:
    right: dict[str, Any] = {}
    for name, field in fields_of(type_).items():
        try:
            if name in value:
                right[field.name] = right_parts(value[name], field.type, lists)
            elif not field.required:
                right[field.name] = _default(field)
        except InvalidField:
            continue
    return PartialBody(right)


def _right_items(value: list[Any], type_: Any, lists: Lists) -> list[Any]:
    """The items in their places, so that a fault of the third names the third."""
    if not _is_struct(inner_type(type_)):
        raise InvalidField
    # A list too long by far is wrong as such; its items aren't looked at.
    if len(value) > ITEMS_MAX:
        raise InvalidField
    return [
        right_parts(item, type_, lists) if isinstance(item, dict) else PartialBody({})
        for item in value
    ]


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default


def _struct_errors(
    value: dict[str, Any], type_: Any, lists: Lists, path: str
) -> Iterator[FieldError]:
    fields = fields_of(type_)
    is_right = True
    for name in value:
        if name not in fields:
            is_right = False
            yield FieldError(path + name[:100], unknown(name[:100], list(fields)))
    for name, field in fields.items():
        if name in value:
            for error in _errors(value[name], field.type, lists, path + name):
                is_right = False
                yield error
        elif field.required:
            is_right = False
            yield FieldError(path + name, "is required")
    if is_right:
        # Every field is right by itself: the fault is of a rule across fields.
        yield from _leaf(value, type_, lists, path.rstrip(".") or "body")


def _errors(value: object, type_: Any, lists: Lists, path: str) -> Iterator[FieldError]:
    inner = inner_type(type_)
    if isinstance(value, dict) and _is_struct(inner):
        yield from _struct_errors(value, inner, lists, path + ".")
    elif isinstance(value, list) and get_origin(inner) in (list, tuple):
        yield from _list_errors(value, type_, lists, path)
    else:
        yield from _leaf(value, type_, lists, path)


def _list_errors(value: list[Any], type_: Any, lists: Lists, path: str) -> Iterator[FieldError]:
    try:
        convert(value, type_, lists)
    except msgspec.ValidationError as error:
        if _INSIDE not in str(error):
            # The list itself is wrong, too long perhaps: its items don't matter.
            yield FieldError(path, sentence(error))
            return
        item_type = get_args(inner_type(type_))[0]
        for index, item in enumerate(value):
            yield from _errors(item, item_type, lists, f"{path}[{index}]")


def _leaf(value: object, type_: Any, lists: Lists, path: str) -> Iterator[FieldError]:
    try:
        convert(value, type_, lists)
    except msgspec.ValidationError as error:
        said = choices(type_) or sentence(error)
        yield FieldError(path, value.told(said) if isinstance(value, Unfit) else said)


@cache
def fields_of(type_: Any) -> dict[str, msgspec.structs.FieldInfo]:
    """The fields of a struct by their names on the wire; looked up once per type."""
    return {field.encode_name: field for field in msgspec.structs.fields(type_)}


def inner_type(type_: Any) -> Any:
    """The one type under Annotated and `| None`."""
    if get_origin(type_) is Annotated:
        return inner_type(get_args(type_)[0])
    if get_origin(type_) in (Union, types.UnionType):
        rest = [t for t in get_args(type_) if t not in (types.NoneType, msgspec.UnsetType)]
        return inner_type(rest[0]) if len(rest) == 1 else type_
    return type_


def _is_struct(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, msgspec.Struct)


def choices(type_: Any) -> str | None:
    """The sentence about a value outside an enum."""
    inner = inner_type(type_)
    if get_origin(inner) is list:
        inner = inner_type(get_args(inner)[0])
    if get_origin(inner) is not Literal:
        return None
    return "must be one of " + ", ".join(str(choice) for choice in get_args(inner))


_WORDS = {
    "str": "a string", "int": "a whole number", "float": "a number", "bool": "true or false",
    "array": "a list", "object": "an object", "null": "null", "uuid": "a uuid",
    "decimal": "a number with a fraction", "date": "a date", "datetime": "a timestamp",
}  # fmt: skip
# How msgspec names types: one, or several of which it may be any.
_TYPES = re.compile(r"`([a-z]+(?: \| [a-z]+)*)`")


def sentence(error: msgspec.ValidationError) -> str:
    """msgspec's message in the words of somebody who sends JSON, without its path."""
    text = str(error).partition(_INSIDE)[0]
    text = _TYPES.sub(_in_words, text)
    text = text.replace("Expected ", "must be ").replace(", got ", ", not ")
    text = _LENGTH.sub(_in_number, text)
    text = text.replace("Invalid UUID", "must be a uuid")
    return text[:1].lower() + text[1:]


_LENGTH = re.compile("must be a (string|list) of length ([<>]=) ([0-9]+)")
_BOUNDS = {">=": "at least", "<=": "at most"}
_PARTS = {"string": "character", "list": "item"}


def _in_number(found: re.Match[str]) -> str:
    kind, bound, number = found.groups()
    plural = "" if number == "1" else "s"
    return f"must have {_BOUNDS[bound]} {number} {_PARTS[kind]}{plural}"


def _in_words(found: re.Match[str]) -> str:
    names = found[1].split(" | ")
    known = all(name in _WORDS for name in names)
    return " or ".join(_WORDS[name] for name in names) if known else found[0]


def unknown(name: str, known: list[str], noun: str = "field") -> str:
    """The sentence about an unknown name, with the nearest known one."""
    close = nearest(name, known)
    hint = f"; did you mean {close}?" if close else ""
    return f"is no {noun} of this request{hint}"


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
        return None, choices(type_) or _of_text(error)


def _of_text(error: msgspec.ValidationError) -> str:
    """Without the type that came, as everything in a query is text, and without null."""
    return sentence(error).partition(", not ")[0].replace(" or null", "")
