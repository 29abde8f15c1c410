"""Requests of which a part counts: some fields are wrong, or only some are to change.

A rule is a function that yields faults. Reading a field whose own value is wrong ends
the rule without a word: of an unknown value there is nothing to say.

A patch names the facts that change; the others stay as they were.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar, cast

import msgspec
from msgspec import UNSET

from tillhouse.kit.errors import FieldError

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)


class InvalidField(Exception):
    """A rule asked for a field whose value is wrong."""


class PartialBody:
    """The valid fields of a struct; reading any other one raises `InvalidField`."""

    def __init__(self, right: dict[str, Any]) -> None:
        self._right = right

    def __getattr__(self, name: str) -> Any:
        """Give the field that is right, or raise InvalidField."""
        try:
            return self._right[name]
        except KeyError:
            raise InvalidField from None


def given(asked: object, name: str) -> Any:
    """A field of a request; None also where its form is wrong."""
    try:
        return getattr(asked, name)
    except InvalidField:
        return None


def faults(*rules: Callable[[], Iterable[FieldError]]) -> list[FieldError]:
    """Everything that the rules find wrong, each asked by itself."""
    found: list[FieldError] = []
    for rule in rules:
        try:
            found.extend(rule())
        except InvalidField:
            continue
    return found


def made(type_: type[T], parts: dict[str, Callable[[], Any]]) -> T:
    """A struct of its parts; of the right ones alone, when a part rests on a wrong field."""
    right: dict[str, Any] = {}
    for name, part in parts.items():
        try:
            right[name] = part()
        except InvalidField:
            continue
    # A partial struct stands in where only rules will read it.
    return type_(**right) if len(right) == len(parts) else cast("T", PartialBody(right))


def facts_of(type_: type[S], source: msgspec.Struct, **others: object) -> S:
    """The facts that stand in something else under the same names, beside those that are given."""
    names = [name for name in type_.__struct_fields__ if name not in others]
    return type_(**{name: getattr(source, name) for name in names}, **others)


def merged(old: S, patch: msgspec.Struct, apart: Collection[str] = ()) -> S:
    """The facts as after a change: the patch's fields, and all others as they were.

    `apart` are the fields of the patch that are no facts, such as a secret.
    """
    named = {name: getattr(patch, name) for name in patch.__struct_fields__ if name not in apart}
    return msgspec.structs.replace(old, **{n: v for n, v in named.items() if v is not UNSET})
