"""Rules of a group of modifiers: pure decisions."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID

from msgspec import UNSET

from tillhouse.kit.errors import FieldError
from tillhouse.kit.money import check_scale
from tillhouse.kit.partial import InvalidField, faults
from tillhouse.products.types import ModifierGroup, ModifierGroupPatch, NewModifierGroup


def group_faults(
    asked: NewModifierGroup | ModifierGroupPatch, currency: str, old: ModifierGroup | None = None
) -> list[FieldError]:
    """Everything against a group, or against a change of it."""

    def after(name: str) -> Any:
        value = getattr(asked, name)
        return getattr(old, name) if value is UNSET else value

    found = faults(
        lambda: _order_errors(after("min_choices"), after("max_choices")),
        lambda: _enough_errors(after("min_choices"), after("options")),
    )
    try:
        options: list[Any] = [] if asked.options is UNSET else list(asked.options)
    except InvalidField:
        return found
    own = {option.id for option in old.options} if old else set[UUID]()
    seen: set[UUID | None] = set()
    for index, option in enumerate(options):
        path = f"options[{index}]"
        found += faults(lambda one=option, path=path: _delta_errors(one, currency, path))
        if old is not None:
            found += faults(lambda one=option, path=path: _id_errors(one, own, seen, path))
            with suppress(InvalidField):
                seen.add(option.id)
    return found


def _order_errors(least: int, most: int | None) -> Iterator[FieldError]:
    if most is not None and most < least:
        yield FieldError("max_choices", "must not be less than min_choices")


def _enough_errors(least: int, options: list[Any]) -> Iterator[FieldError]:
    if least > sum(1 for option in options if option.is_active):
        yield FieldError("min_choices", "must not be more than there are active options")


def _delta_errors(option: Any, currency: str, path: str) -> Iterator[FieldError]:
    wrong = check_scale(option.price_delta, currency)
    if wrong:
        yield FieldError(f"{path}.price_delta", wrong)


def _id_errors(
    option: Any, own: set[UUID], seen: set[UUID | None], path: str
) -> Iterator[FieldError]:
    if option.id is None:
        return
    if option.id not in own:
        yield FieldError(f"{path}.id", "is no option of this group: leave it out for a new one")
    elif option.id in seen:
        yield FieldError(f"{path}.id", "is in this list already")
