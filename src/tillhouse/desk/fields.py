"""From the fields of a form to a body, and from a refusal back to the fields."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from tillhouse.desk.frame.sentences import fault
from tillhouse.desk.frame.words import zone
from tillhouse.desk.session.forms import Form
from tillhouse.kit.errors import Problem

_ITEM = re.compile(r"(\w+)\[([0-9]+)\](?:\.(\w+))?.*")
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,9})?")


# Fields that take an amount, a rate or a quantity, by the beginning of their names.
_NUMBERS = frozenset({
    "amount", "base_price", "counted", "discount_amount", "lines", "low_stock_threshold",
    "max_per_day", "maximum_discount", "minimum_subtotal", "part", "price", "price_delta",
    "prices", "quantity", "service_charge_amount", "service_charge_percent", "tax_rate", "tip",
    "value", "withdrawal_policy",
})  # fmt: skip
# As the desk itself writes large numbers; any other comma stays, for the operation to refuse.
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")


def without_groups(form: Form) -> Form:
    """A form whose numbers are written as operations take them: 5,000.50 is 5000.50."""
    pairs = [(name, _ungrouped(name, value)) for name, value in form.pairs]
    return Form(pairs, form.secret_names)


def _ungrouped(name: str, value: str) -> str:
    is_grouped = name.partition(".")[0] in _NUMBERS and _GROUPED.fullmatch(value.strip())
    return value.strip().replace(",", "") if is_grouped else value


def number(text: str) -> Decimal | str:
    """A quantity or a rate; what is none stays as it was typed, for the operation to refuse."""
    return Decimal(text) if _NUMBER.fullmatch(text) else text


def instant(text: str, zone_name: str) -> str:
    """A time as a form gives it, in the zone of the business; else as it is, to be refused."""
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        return text
    return (given if given.tzinfo else given.replace(tzinfo=zone(zone_name))).isoformat()


def cleared(form: Mapping[str, str], names: Sequence[str]) -> dict[str, str | None]:
    """These fields; an emptied one says nothing any more."""
    return {name: form.get(name) or None for name in names}


def named_by(form: Form, prefix: str) -> dict[str, str]:
    """The filled fields `prefix.ID`, by their ids."""
    begin = f"{prefix}."
    return {
        name.removeprefix(begin): value
        for name, value in form.items()
        if name.startswith(begin) and value
    }


def faults_at(problem: Problem, lists: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The faults by the fields of the form: those of the nth item of a list at its nth field.

    In the name of such a field, `*` stands for the field of the item that is wrong.
    """
    found: dict[str, str] = {}
    for detail in problem.details or ():
        item = _ITEM.fullmatch(detail.field)
        field = detail.field
        if item and item[1] in lists:
            field = lists[item[1]][int(item[2])].replace("*", item[3] or "name")
        found.setdefault(field, fault(detail.message))
    return found
