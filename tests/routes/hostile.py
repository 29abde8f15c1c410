"""The most expensive requests that a route can be sent, made from its description."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.routes.table import SCHEMAS, operation
from tillhouse.http.exchange import BODY_BYTES_MAX
from tillhouse.http.protocol import HEAD_BYTES_MAX
from tillhouse.http.route import Route
from tillhouse.http.wire import CONTAINERS_MAX, DEPTH_MAX
from tillhouse.kit.text import MARKS_MAX

Schema = dict[str, Any]
# A place in a body: names of fields, and 0 for an item of a list.
Path = tuple[str | int, ...]

# Room for what stands around the filling.
_FULL = BODY_BYTES_MAX - 20_000
_HEAD_FULL = HEAD_BYTES_MAX - 8_000
# Each of these marks has to be sorted past the other one.
_UNSORTED = "\u0315\u0300"
_SORTABLE = "a" + _UNSORTED * (MARKS_MAX // 2)

# Texts that are dear to one or the other reader, and have no end.
TEXTS: dict[str, str] = {
    "unsorted marks": _UNSORTED,
    "marks that may be": _SORTABLE,
    "letters that fall apart": "\ufdfa",
    "blanks": " ",
    "digits": "9",
    "names with dots": "a.",
    "addresses": "a@",
    "hexadecimal groups": "1:",
    "escapes": "%41",
    "commas": "1,",
    "signs": "+-(",
    "stars": "*.",
    "placeholders": "{",
}


def fill(part: str, size: int) -> str:
    """A text of so many bytes."""
    return part * max(1, size // len(part.encode()))


def resolved(schema: Schema) -> Schema:
    """A schema without references and without null."""
    if "$ref" in schema:
        return resolved(SCHEMAS[schema["$ref"].rpartition("/")[2]])
    choices = schema.get("anyOf") or schema.get("oneOf")
    return resolved(choices[0]) if choices else schema


def body_schema(route: Route) -> Schema | None:
    """The body of a route, as described."""
    described = operation(route).get("requestBody")
    return resolved(described["content"]["application/json"]["schema"]) if described else None


def kind_of(schema: Schema) -> str:
    """The type of a value, null aside."""
    named = schema.get("type", "object")
    return next(n for n in named if n != "null") if isinstance(named, list) else named


def places(schema: Schema, path: Path = ()) -> Iterator[tuple[Path, Schema]]:
    """Every place of a body, and what belongs there."""
    schema = resolved(schema)
    yield path, schema
    if kind_of(schema) == "array":
        yield from places(schema["items"], (*path, 0))
    for name, inner in schema.get("properties", {}).items():
        yield from places(inner, (*path, name))


def right(schema: Schema, items: int = 1) -> Any:
    """A value of the right form, every list as long as it may be, up to so many items."""
    schema = resolved(schema)
    kind = kind_of(schema)
    if kind == "object":
        return {name: right(inner, items) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [right(schema["items"], items)] * min(schema.get("maxItems", items), items)
    if kind == "string":
        return _right_text(schema)
    if "enum" in schema:
        return schema["enum"][0]
    return {"boolean": True, "integer": 1, "number": 1}[kind]


def _right_text(schema: Schema) -> str:
    if "enum" in schema:
        return str(schema["enum"][0])
    if schema.get("format") == "uuid":
        return "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"
    longest = (_SORTABLE * 1000)[: schema.get("maxLength", 100)]
    if "format" not in schema and re.search(schema.get("pattern", ""), longest):
        return longest
    return str(schema.get("examples", ["x"])[0])


def largest(schema: Schema) -> bytes:
    """The largest body that is right by its form."""
    items = 1000
    while len(body := as_json(right(schema, items))) > BODY_BYTES_MAX:
        items //= 2
    return body


def as_json(value: object) -> bytes:
    """Its bytes, marks as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def with_part(schema: Schema, path: Path, part: bytes) -> bytes:
    """A small right body that holds this at one place."""
    body = right(schema)
    if not path:
        return part
    holder = body
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = "\0"
    return as_json(body).replace(b'"\\u0000"', part)


def bodies(route: Route) -> Iterator[tuple[str, bytes]]:
    """Bodies that fill a mebibyte, by what is hostile about them."""
    schema = body_schema(route)
    if schema is None:
        return
    yield "all lists full", largest(schema)
    found = list(places(schema))
    for path, part in found:
        for kind, filling in _fillings(part):
            yield f"{kind} at {path}", with_part(schema, path, filling)
    yield from _every_text(schema, [path for path, part in found if kind_of(part) == "string"])
    yield "unknown fields", as_json({f"{n:07d}": 1 for n in range(_FULL // 12)})
    yield "fields nearly known", as_json({f"quantiti{n}": 1 for n in range(_FULL // 20)})


def _fillings(schema: Schema) -> Iterator[tuple[str, bytes]]:
    match kind_of(schema):
        case "string":
            for kind in ("unsorted marks", "marks that may be"):
                yield kind, as_json(fill(TEXTS[kind], _FULL))
        case "array":
            item = as_json(right(schema["items"]))
            count = min(_FULL // (len(item) + 1), CONTAINERS_MAX // (1 + item.count(b"{")) - 50)
            yield "too many items", b"[" + b",".join([item] * count) + b"]"
            yield "too many numbers", b"[" + b"1," * (_FULL // 2) + b"1]"
            yield "too many texts", b"[" + b'"",' * (_FULL // 3) + b"1]"
            yield "too many objects", b"[" + b"{}," * (CONTAINERS_MAX - 50) + b"1]"
            yield "odd numbers", b"[" + b"1e999999999," * (_FULL // 12) + b"NaN]"
        case "number" | "integer":
            yield "digits", b"9" * _FULL
            yield "decimals", b"0." + b"9" * _FULL
            yield "digits in a string", b'"' + b"9" * _FULL + b'"'
            yield "decimals in a string", b'"0.' + b"9" * _FULL + b'"'
        case _:
            pass


def _every_text(schema: Schema, paths: list[Path]) -> Iterator[tuple[str, bytes]]:
    """Bodies in which each text has its share of each filling."""
    for kind, part in TEXTS.items():
        body = as_json(right(schema))
        for path in paths:
            body = _put(body, path, fill(part, _FULL // len(paths)))
        yield f"{kind} everywhere", body


def _put(body: bytes, path: Path, text: str) -> bytes:
    value = json.loads(body)
    holder = value
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = text
    return as_json(value)


def nested() -> bytes:
    """As deep as may be, and one deeper."""
    return b'{"x":' + b"[" * DEPTH_MAX + b"]" * DEPTH_MAX + b"}"


def queries(names: list[str]) -> Iterator[tuple[str, str]]:
    """Query strings as long as a head may be."""
    if not names:
        return
    escape: Callable[[str], str] = lambda text: "".join(f"%{b:02X}" for b in text.encode())  # noqa: E731
    for name in names:
        for kind, part in TEXTS.items():
            escaped = part if (part.isascii() and part.isalnum()) or part == "1," else escape(part)
            yield f"{kind} in {name}", f"{name}={fill(escaped, _HEAD_FULL)}"
    yield "unknown names", "&".join(f"quantiti{n}=1" for n in range(100))
    yield "too many names", "&".join(f"{n}=1" for n in range(_HEAD_FULL // 8))
    yield "equal names", "&".join(["a=1"] * 100)
    yield "separators", "&" * _HEAD_FULL
