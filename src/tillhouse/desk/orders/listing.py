"""The list of orders: views by name, filters of the address, and rows."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tillhouse.desk.frame.places import Frame
from tillhouse.desk.frame.words import money_column, named

# A view is a query with a name.
VIEWS: Mapping[str, Mapping[str, str]] = {
    "today": {"day": "today"},
    "unpaid": {"status": "pending", "payment_status": "pending,partial"},
    "scheduled": {"status": "scheduled"},
    "cancelled": {"status": "cancelled,refunded"},
    "all": {},
}
_PER_PAGE = 25
_NAMES = ("search", "status", "payment_status", "customer_id", "page")


class OrderRow(msgspec.Struct, frozen=True, kw_only=True):
    """One order of a list."""

    address: str
    code: str
    name: str
    summary: str
    at: str
    when: str
    channel: str
    status: str
    payment: str
    kitchen: str | None
    # None where nothing is to be collected.
    to_collect: str | None
    total: str


def filters(query: Mapping[str, str], today: str) -> dict[str, str | int | None]:
    """The parameters of the operation, from those of the page's address."""
    found: dict[str, str | int | None] = {"limit": _PER_PAGE}
    found |= {name: query[name] for name in _NAMES if query.get(name)}
    if query.get("day") == "today":
        found |= {"start_date": today, "end_date": today}
    return found


def payment_state(order: Mapping[str, Any]) -> str:
    """How far an order is paid, and whether money of the sale went back."""
    if order["status"] == "refunded":
        return "refunded"
    is_paid = order["paymentStatus"] == "paid"
    return "part_refunded" if is_paid and order["refundedAmount"] else order["paymentStatus"]


def rows(orders: list[Mapping[str, Any]], frame: Frame) -> list[OrderRow]:
    """The rows of a list."""
    totals = money_column([one["totalAmount"] for one in orders], frame.currency)
    rests = money_column([one["remainingAmount"] for one in orders], frame.currency)
    return [
        OrderRow(
            address=f"/desk/orders/{one['id']}",
            code=one["shortCode"],
            name=one["customer"]["name"] if one["customer"] else one["summary"],
            summary=one["summary"] if one["customer"] else "",
            at=one["occurredAt"],
            when=frame.when(one["occurredAt"]),
            channel=named("channel", one["channel"]),
            status=one["status"],
            payment=payment_state(one),
            kitchen=one["kitchenTicketStatus"],
            to_collect=rest if one["status"] == "pending" and one["remainingAmount"] else None,
            total=total,
        )
        for one, total, rest in zip(orders, totals, rests, strict=True)
    ]
