"""Judging a request of which some fields are wrong: rules look at the rest all the same.

A rule is a function that yields faults. Reading a field whose own value is wrong ends
the rule without a word: of an unknown value there is nothing to say.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from tillhouse.kit.errors import FieldError

T = TypeVar("T")


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
