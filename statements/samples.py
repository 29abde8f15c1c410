"""A value of any type that a store's function takes, so that each can be run once."""

import ast
import importlib
import sys
import types
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import msgspec
from asyncpg import Record
from tests.tidy.tree import Source

_SIMPLE: dict[Any, Any] = {
    str: "a",
    int: 1,
    float: 1.5,
    bool: True,
    bytes: b"a",
    UUID: UUID(int=1),
    datetime: datetime(2026, 1, 31, tzinfo=UTC),
    date: date(2026, 1, 31),
    timedelta: timedelta(minutes=30),
    Decimal: Decimal("1.5"),
    Any: "a",
    object: "a",
    type(None): None,
}
_LISTS = (list, Sequence, Iterable, set, frozenset)


class Given(msgspec.Struct, frozen=True):
    """Which of two runs: with everything that may be absent, or without."""

    everything: bool


def sample(type_: Any, given: Given) -> Any:
    """A value of the type."""
    if type_ is bool:
        return given.everything
    if type_ in _SIMPLE:
        return _SIMPLE[type_]
    origin, parts = get_origin(type_), get_args(type_)
    if origin is Annotated:
        return sample(parts[0], given)
    if origin in (Union, types.UnionType):
        return _optional(parts, given)
    if origin is Literal:
        return parts[0]
    if origin is not None:
        return _container(origin, parts, given)
    return _named(type_, given)


def _optional(parts: tuple[Any, ...], given: Given) -> Any:
    if type(None) in parts and not given.everything:
        return None
    return sample(next(part for part in parts if part is not type(None)), given)


def _container(origin: Any, parts: tuple[Any, ...], given: Given) -> Any:
    if origin in _LISTS:
        return [sample(parts[0], given)]
    if origin is tuple:
        return tuple(sample(part, given) for part in parts if part is not ...)
    if origin in (dict, Mapping):
        return {sample(parts[0], given): sample(parts[1], given)}
    raise TypeError(f"statements/samples.py knows no value of {origin}[{parts}]: teach it")


def _named(type_: Any, given: Given) -> Any:
    if hasattr(type_, "__supertype__"):
        return sample(type_.__supertype__, given)
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        hints = get_type_hints(type_, include_extras=True)
        fields = type_.__struct_fields__
        return type_(**{name: sample(hints[name], given) for name in fields})
    if isinstance(type_, type) and issubclass(type_, str):
        return type_("a")
    if isinstance(type_, type) and issubclass(type_, Decimal):
        return type_("1.5")
    if type_ in (list, dict, tuple):
        return type_()
    if isinstance(type_, type) and issubclass(type_, tuple):
        return type_(*(sample(part, given) for part in get_type_hints(type_).values()))
    if type_ is Record:
        raise TypeError("a store's function takes values, not a Record: name what it needs")
    raise TypeError(f"statements/samples.py knows no value of {type_}: teach it")


def hints_of(source: Source, function: Any) -> dict[str, Any]:
    """The types of a function's parameters, those included that only the type checker imports."""
    return get_type_hints(function, localns=_checked_only(source), include_extras=True)


def _checked_only(source: Source) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for child in node.body:
                if isinstance(child, ast.ImportFrom):
                    module = importlib.import_module(str(child.module))
                    found |= {name.name: getattr(module, name.name) for name in child.names}
    return found


def module_of(source: Source) -> types.ModuleType:
    """The imported module of a file."""
    importlib.import_module(source.module)
    return sys.modules[source.module]
