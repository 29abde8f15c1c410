"""Schemas as lists of fields: JSON Schema 2020-12 in words."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from tillhouse.reference.viewer.document import Document, Node, name_of

_FORMATS = {
    "uuid": "UUID",
    "date-time": "timestamp",
    "date": "date",
    "time": "time",
    "email": "e-mail address",
    "uri": "URL",
    "binary": "bytes",
}
_PATTERN_MAX = 40


class Word(msgspec.Struct, frozen=True):
    """A word of a type; `schema` names the schema that it stands for."""

    text: str
    schema: str = ""


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One field, parameter or item, ready to be shown."""

    name: str
    type: list[Word]
    about: str = ""
    # Required, optional, or neither where nothing is sent.
    is_required: bool | None = None
    is_deprecated: bool = False
    facts: list[str] = []
    values: list[str] = []
    parts: list["FieldPart"] = []


class FieldPart(msgspec.Struct, frozen=True):
    """The fields of an object; several parts where one of several objects is meant."""

    title: str
    fields: list[Field]


class SchemaReader:
    """Reads schemas of one document.

    With `links`, a named object is only named: its own section shows its fields. Without, its
    fields are shown in place, unless they are being shown already.
    """

    def __init__(self, document: Document, *, links: bool) -> None:
        self._document = document
        self._links = links

    def field(
        self, name: str, schema: Node, *, required: bool | None, within: Sequence[str] = ()
    ) -> Field:
        """A schema under a name."""
        resolved = self._document.resolve(schema)
        inner = self._inner(schema)
        return Field(
            name=name,
            type=self.type_of(schema),
            about=schema.get("description") or self._about(schema),
            is_required=required,
            is_deprecated=bool(resolved.get("deprecated")),
            facts=self._facts(resolved),
            values=self._values(inner),
            parts=self._parts(inner, within),
        )

    def fields(self, schema: Node, within: Sequence[str] = ()) -> list[Field]:
        """The fields of an object."""
        schema = self._merged(schema)
        required = schema.get("required", [])
        fields = [
            self.field(name, inner, required=name in required, within=within)
            for name, inner in schema.get("properties", {}).items()
        ]
        others = schema.get("additionalProperties")
        if isinstance(others, dict) and others:
            fields.append(self.field("any other", others, required=None, within=within))
        return fields

    def parts(self, schema: Node) -> list[FieldPart]:
        """The fields of an object, or of each of several that are possible."""
        return self._parts(self._inner(schema), (), links=False)

    def is_object(self, schema: Node) -> bool:
        """Whether the schema has fields."""
        schema = self._merged(schema)
        return bool(schema.get("properties") or _alternatives(schema))

    def type_of(self, schema: Node) -> list[Word]:
        """The type in words."""
        name = name_of(schema)
        resolved = self._document.resolve(schema)
        if name and self.is_object(resolved):
            return [Word(_spaced(name), name)]
        alternatives = _alternatives(resolved)
        if alternatives:
            return _joined([self.type_of(one) for one in alternatives])
        if "allOf" in resolved:
            return self.type_of(self._merged(resolved))
        return _joined([self._simple(resolved, one) for one in _types(resolved)])

    def _simple(self, schema: Node, kind: str) -> list[Word]:
        if kind == "array":
            return [Word("list of "), *_plural(self.type_of(schema.get("items") or {}))]
        if kind == "string":
            return [Word(_FORMATS.get(schema.get("format", ""), "string"))]
        others = schema.get("additionalProperties")
        if kind == "object" and isinstance(others, dict) and not schema.get("properties"):
            return [Word("map of "), *self.type_of(others)]
        return [Word({"": "any JSON"}.get(kind, kind))]

    def _merged(self, schema: Node) -> Node:
        """A schema with all that it consists of in one; its own words win."""
        schema = self._document.resolve(schema)
        if "allOf" not in schema:
            return schema
        own = {key: value for key, value in schema.items() if key != "allOf"}
        merged: Node = {}
        for part in [*map(self._merged, schema["allOf"]), own]:
            both = {**merged.get("properties", {}), **part.get("properties", {})}
            needed = [*merged.get("required", []), *part.get("required", [])]
            merged = {**merged, **part, "properties": both, "required": needed}
        return merged

    def _inner(self, schema: Node) -> Node:
        """The element of a list, a map or a `… or null`; other schemas themselves."""
        while True:
            resolved = self._document.resolve(schema)
            real = [one for one in _alternatives(resolved) if one.get("type") != "null"]
            others = resolved.get("additionalProperties")
            if len(real) == 1:
                schema = real[0]
            elif isinstance(resolved.get("items"), dict):
                schema = resolved["items"]
            elif isinstance(others, dict) and others and not resolved.get("properties"):
                schema = others
            else:
                return schema

    def _about(self, schema: Node) -> str:
        """The words of a schema that is told of here; those of an object stand with its fields."""
        return "" if self._is_linked(schema) else self._merged(schema).get("description", "")

    def _is_linked(self, schema: Node) -> bool:
        return self._links and bool(name_of(schema)) and self.is_object(schema)

    def _parts(self, schema: Node, within: Sequence[str], *, links: bool = True) -> list[FieldPart]:
        name = name_of(schema)
        if name in within or (links and self._is_linked(schema)):
            return []
        within = (*within, name) if name else within
        resolved = self._merged(schema)
        real = [one for one in _alternatives(resolved) if one.get("type") != "null"]
        if real:
            found = [self._parts(one, within) for one in real]
            names = [self._title(one) for one in real]
            return [
                FieldPart(title, parts[0].fields)
                for title, parts in zip(names, found, strict=True)
                if parts
            ]
        fields = self.fields(resolved, within)
        return [FieldPart("", fields)] if fields else []

    def _title(self, schema: Node) -> str:
        return "".join(word.text for word in self.type_of(schema))

    def _values(self, schema: Node) -> list[str]:
        resolved = self._document.resolve(schema)
        values: list[Any] = resolved.get("enum", [])
        if "const" in resolved:
            values = [resolved["const"]]
        return [_shown(value) for value in values if value is not None]

    def _facts(self, schema: Node) -> list[str]:
        """The bounds of a value, in words, and its default."""
        facts: list[str] = []
        for each in (schema, self._document.resolve(self._inner(schema))):
            for fact in _bounds(each):
                if fact not in facts:
                    facts.append(fact)
        if schema.get("default") is not None:
            facts.append(f"{_shown(schema['default'])} when left out")
        return [*facts, *self._example(schema)]

    def _example(self, schema: Node) -> list[str]:
        inner = self._document.resolve(self._inner(schema))
        if "enum" in inner or inner.get("format") in ("uuid", "date-time"):
            return []
        for each in (schema, inner):
            examples = each.get("examples") or [each.get("example")]
            if examples[0] is not None and not isinstance(examples[0], dict | list):
                return [f"such as {_shown(examples[0])}"]
        return []


def _plural(words: list[Word]) -> list[Word]:
    """A simple type of many; the names of objects stay as they are."""
    if len(words) != 1 or words[0].schema or words[0].text.startswith("any"):
        return words
    text = words[0].text
    return [Word(text + ("es" if text.endswith("s") else "s"))]


def _types(schema: Node) -> list[str]:
    kind: Any = schema.get("type")
    if isinstance(kind, list):
        return [str(one) for one in kind]
    if kind is None:
        return ["object" if "properties" in schema else _kind_of_values(schema)]
    return [kind]


def _kind_of_values(schema: Node) -> str:
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    return "string" if values and all(isinstance(value, str) for value in values) else ""


def _alternatives(schema: Node) -> list[Node]:
    return schema.get("anyOf") or schema.get("oneOf") or []


def _joined(types: list[list[Word]]) -> list[Word]:
    found: list[Word] = []
    for number, words in enumerate(one for n, one in enumerate(types) if one not in types[:n]):
        found += [Word(" or "), *words] if number else words
    return found


def _bounds(schema: Node) -> list[str]:
    facts = [
        _range(schema.get("minLength"), schema.get("maxLength"), " characters"),
        _range(schema.get("minItems"), schema.get("maxItems"), " items"),
        _range(schema.get("minProperties"), schema.get("maxProperties"), " fields"),
        _range(schema.get("minimum"), schema.get("maximum"), ""),
    ]
    if "exclusiveMinimum" in schema:
        facts.append(f"more than {_number(schema['exclusiveMinimum'])}")
    if "exclusiveMaximum" in schema:
        facts.append(f"less than {_number(schema['exclusiveMaximum'])}")
    if "multipleOf" in schema:
        facts.append(f"a multiple of {_number(schema['multipleOf'])}")
    if schema.get("uniqueItems"):
        facts.append("each once")
    pattern = schema.get("pattern", "")
    if pattern and len(pattern) <= _PATTERN_MAX and not schema.get("examples"):
        facts.append(f"matches {pattern}")
    return [fact for fact in facts if fact]


def _range(low: float | None, high: float | None, unit: str) -> str:
    if low is not None and high is not None:
        same = f"{_number(low)}{unit}" if unit else f"only {_number(low)}"
        return f"{_number(low)} to {_number(high)}{unit}" if low != high else same
    if high is not None:
        return f"at most {_number(high)}{unit}"
    if low is not None and (low or not unit):
        one = unit.removesuffix("s") if low == 1 else unit
        return f"at least {_number(low)}{one}"
    return ""


def _number(value: float) -> str:
    return f"{value:,}"


def _shown(value: Any) -> str:
    if value in ("", [], {}):
        return "empty"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _spaced(name: str) -> str:
    """A schema's name as people write it; its words stay as they are."""
    return name.replace("_", " ")
