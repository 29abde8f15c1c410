"""The schemas of the document: one component per type, with a sentence for every field."""

import inspect
from collections.abc import Iterable, Iterator
from typing import Any, get_args

import msgspec
from msgspec import UnsetType

from tillhouse.http.schema import hook, mend
from tillhouse.kit import values
from tillhouse.kit.values import Lists
from tillhouse.reference.enums import ENUMS
from tillhouse.reference.sentences import Sentences

Schema = dict[str, Any]

REF = "#/components/schemas/{name}"
_NULL = {"type": "null"}


class Schemas:
    """Schemas by type, and the components that they lead to."""

    def __init__(self, answers: Iterable[Any], bodies: Iterable[Any], lists: Lists) -> None:
        self.sentences = Sentences()
        self._hook = hook(lists)
        answers, bodies = list(answers), list(bodies)
        self._bodies = set(structs_of(bodies))
        self._classes = {cls.__name__: cls for cls in structs_of([*answers, *bodies])}
        unique = list({repr(type_): type_ for type_ in [*answers, *bodies]}.values())
        schemas, structs = msgspec.json.schema_components(
            unique, schema_hook=self._hook, ref_template=REF
        )
        named: dict[str, Schema] = {}
        raw = {name: mend(schema, named, REF) for name, schema in structs.items()}
        plain = [mend(schema, named, REF) for schema in schemas]
        self._enums = self._find_enums(raw)
        found = {name: self._struct(name, schema) for name, schema in raw.items()}
        for words, name in self._enums.items():
            named[name] = {"type": "string", "enum": list(words), "description": ENUMS[name][1]}
        for name, schema in named.items():
            if "description" not in schema:
                schema["description"] = _purpose(getattr(values, name))
        self.components = dict(sorted((found | named).items()))
        self._by_type = {
            repr(type_): self.tidied(schema) for type_, schema in zip(unique, plain, strict=True)
        }

    def of(self, type_: Any) -> Schema:
        """The schema of a type that was named at the start."""
        return self._by_type[repr(type_)]

    def of_query(self, type_: type) -> Schema:
        """The schema of a query, whose fields are parameters."""
        _, structs = msgspec.json.schema_components(
            [type_], schema_hook=self._hook, ref_template=REF
        )
        return self.tidied(mend(structs[type_.__name__], {}, REF))

    def named(self, schema: Schema) -> Schema:
        """The component that a schema refers to."""
        return self.components[schema["$ref"].rpartition("/")[2]]

    def tidied(self, schema: Any) -> Any:
        """A schema with named enums, and with null as a type beside others."""
        if isinstance(schema, list):
            return [self.tidied(item) for item in schema]
        if not isinstance(schema, dict):
            return schema
        if (name := self._enums.get(tuple(schema.get("enum", ())))) is not None:
            return {"$ref": REF.format(name=name)}
        if schema.get("enum") == [True]:
            # Generators know an enum of words only.
            return {"type": "boolean", "const": True}
        found = {key: self.tidied(value) for key, value in schema.items()}
        return _nullable(found)

    def _find_enums(self, structs: dict[str, Schema]) -> dict[tuple[str, ...], str]:
        """The named enums by their words: each is that of the field that its entry names."""
        found: dict[tuple[str, ...], str] = {}
        for name, (where, _) in ENUMS.items():
            struct, _, field = where.partition(".")
            keys = {f.name: f.encode_name for f in msgspec.structs.fields(self._classes[struct])}
            values = _enum_in(structs[struct]["properties"][keys[field]])
            if values is None:
                raise ValueError(f"{where} has no words to choose from")
            found[values] = name
        return found

    def _struct(self, name: str, schema: Schema) -> Schema:
        cls = self._classes.get(name)
        if cls is None:
            return schema
        is_body = cls in self._bodies
        fields = {field.encode_name: field for field in msgspec.structs.fields(cls)}
        properties: dict[str, Schema] = {}
        for key, inner in schema["properties"].items():
            told = self.sentences.of(cls, fields[key].name)
            properties[key] = described(self.tidied(inner), told)
        found = {**schema, "description": _purpose(cls), "properties": properties}
        if not is_body:
            found["required"] = [
                key for key, field in fields.items() if UnsetType not in get_args(field.type)
            ]
        return found


def described(schema: Schema, sentence: str) -> Schema:
    """The schema with its sentence, which tells the meaning of a field that is left out."""
    found = dict(schema)
    if "default" in found:
        default = found.pop("default")
        if default != []:
            sentence = f"{sentence} Left out: `{_as_json(default)}`."
    return {**found, "description": sentence}


def structs_of(types: Iterable[Any]) -> Iterator[type[msgspec.Struct]]:
    """The structs that types lead to, each once."""
    seen: set[Any] = set()
    pending = list(types)
    while pending:
        type_ = pending.pop()
        if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
            if type_ in seen:
                continue
            seen.add(type_)
            yield type_
            pending += [field.type for field in msgspec.structs.fields(type_)]
        else:
            pending += get_args(type_)


def _purpose(cls: type) -> str:
    return inspect.cleandoc(cls.__doc__ or "").partition("\n\n")[0].replace("\n", " ")


def _enum_in(schema: Any) -> tuple[str, ...] | None:
    """The words that a field may hold, also beside null or in a list."""
    if isinstance(schema, list):
        return next(filter(None, map(_enum_in, schema)), None)
    if not isinstance(schema, dict):
        return None
    if "enum" in schema:
        return tuple(schema["enum"])
    return _enum_in([schema.get("anyOf"), schema.get("items")])


def _nullable(schema: Schema) -> Schema:
    """`anyOf` of plain types and null as one schema of several types."""
    kinds = schema.get("anyOf", [])
    if len(kinds) != 2 or _NULL not in kinds:
        return schema
    [kind] = [kind for kind in kinds if kind != _NULL]
    if "type" not in kind or "enum" in kind:
        return schema
    types = kind["type"] if isinstance(kind["type"], list) else [kind["type"]]
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**kind, **rest, "type": [*types, "null"]}


def _as_json(value: Any) -> str:
    return msgspec.json.encode(value).decode().strip('"')
