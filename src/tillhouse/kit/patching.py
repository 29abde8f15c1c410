"""Patches: the facts of a thing, as they become when a request names some of them."""

from collections.abc import Collection
from typing import TypeVar

import msgspec
from msgspec import UNSET

S = TypeVar("S", bound=msgspec.Struct)


def facts_of(type_: type[S], source: msgspec.Struct) -> S:
    """The facts that stand in something larger, under the same names."""
    return type_(**{name: getattr(source, name) for name in type_.__struct_fields__})


def merged(old: S, patch: msgspec.Struct, apart: Collection[str] = ()) -> S:
    """The facts as after a change: the patch's fields, and all others as they were.

    `apart` are the fields of the patch that are no facts, such as a secret.
    """
    named = {name: getattr(patch, name) for name in patch.__struct_fields__ if name not in apart}
    return msgspec.structs.replace(old, **{n: v for n, v in named.items() if v is not UNSET})
