"""The total of a sale in words, as the operation works it out: the desk reckons nothing itself."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import exact
from tillhouse.desk.operations import Operation
from tillhouse.desk.orders.order import Sum, sums_of_lines
from tillhouse.orders.room import ROOM as ORDERS

PREVIEW = Operation(ORDERS, "POST", "/v1/orders/preview")


class WorkedOutLine(msgspec.Struct, frozen=True):
    """The total of a line, and the discount and the tax that it has."""

    total: str
    more: str


class WorkedOut(msgspec.Struct, frozen=True):
    """A sale as it would be recorded: its lines, in their order, and its sums."""

    lines: Sequence[WorkedOutLine]
    sums: Sequence[Sum]


def worked_out(preview: Mapping[str, Any]) -> WorkedOut:
    """The answer of the operation in words."""
    currency = preview["currency"]
    lines = [
        WorkedOutLine(exact(one["totalPrice"], currency), ", ".join(_parts(one, currency)))
        for one in preview["items"]
    ]
    return WorkedOut(lines, list(sums_of_lines(preview)))


def _parts(line: Mapping[str, Any], currency: str) -> Iterator[str]:
    if line["discountAmount"]:
        yield sentence("sell.line_discount", amount=exact(line["discountAmount"], currency))
    if line["taxAmount"]:
        yield sentence("sell.line_tax", amount=exact(line["taxAmount"], currency))
