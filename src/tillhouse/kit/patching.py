"""Patches: the facts of a thing, and what they become when a request names some of them."""

from typing import TypeVar

import msgspec
from msgspec import UNSET

T = TypeVar("T", bound=msgspec.Struct)


def facts_of(type_: type[T], source: msgspec.Struct) -> T:
    """The facts that stand in something larger, under the same names."""
    return type_(**{name: getattr(source, name) for name in type_.__struct_fields__})


def merged(old: T, patch: msgspec.Struct) -> T:
    """The facts as after a change: what the patch names, and all else as it was."""
    named = {name: getattr(patch, name) for name in patch.__struct_fields__}
    return msgspec.structs.replace(old, **{n: v for n, v in named.items() if v is not UNSET})
