"""How a business changes: pure decisions."""

from collections.abc import Iterator
from typing import Any, get_args

from msgspec import UNSET

from tillhouse.accounts.business.types import (
    BusinessPatch,
    BusinessShown,
    NewPostalAddress,
    NewTaxNumber,
)
from tillhouse.kit.errors import Conflict, FieldError
from tillhouse.kit.partial import facts_of
from tillhouse.orders.receipts.head_rules import PostalAddress, TaxNumber
from tillhouse.orders.types import ServiceMode

_MODES = get_args(ServiceMode)


class DaysStand(
    Conflict,
    message="The time zone stands: live sales, stays or money are recorded by its days, or a "
    "period is closed. Give a store a `time_zone` of its own where its days are others.",
):
    """Another time zone would tell what was booked by other days."""


def changes(old: BusinessShown, patch: BusinessPatch) -> dict[str, Any]:
    """The fields that a patch gives another value, by their names in the request."""
    named = {name: getattr(patch, name) for name in patch.__struct_fields__}
    given = {name: _kept(value) for name, value in named.items() if value is not UNSET}
    if modes := given.get("service_charge_modes"):
        # In another order they are the same.
        given["service_charge_modes"] = sorted(modes, key=_MODES.index)
    return {name: value for name, value in given.items() if value != getattr(old, name)}


def patch_faults(patch: BusinessPatch) -> Iterator[FieldError]:
    """Service modes that are named twice."""
    modes = [] if patch.service_charge_modes is UNSET else patch.service_charge_modes
    for index, mode in enumerate(modes):
        if mode in modes[:index]:
            yield FieldError(f"service_charge_modes[{index}]", "is named twice")


def check_zone(*, is_booked: bool) -> None:
    """Refuse another time zone where something was booked by days."""
    if is_booked:
        raise DaysStand


def _kept(value: Any) -> Any:
    """A value of a request as the business has it."""
    match value:
        case NewPostalAddress():
            return facts_of(PostalAddress, value)
        case NewTaxNumber():
            return facts_of(TaxNumber, value)
        case list():
            return [_kept(one) for one in value]
        case _:
            return value
