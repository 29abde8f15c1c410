"""The list of orders: views by name, filters of the address, and rows."""

from collections.abc import Mapping

import msgspec

from tillhouse.desk.frame.places import LIST_ORDERS, Frame
from tillhouse.desk.frame.words import Number, money_column, named

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


class _Named(msgspec.Struct):
    name: str


class ListedOrder(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An order of the answer, as far as a row tells it."""

    id: str
    short_code: str
    status: str
    payment_status: str
    summary: str
    customer: _Named | None
    occurred_at: str
    channel: str
    kitchen_ticket_status: str | None
    total_amount: Number
    remaining_amount: Number
    refunded_amount: Number


LIST = LIST_ORDERS.reading(list[ListedOrder])


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


def payment_state(status: str, payment: str, refunded: Number) -> str:
    """How far an order is paid, and whether money of the sale went back."""
    if status == "refunded":
        return "refunded"
    return "part_refunded" if payment == "paid" and refunded else payment


def rows(orders: list[ListedOrder], frame: Frame) -> list[OrderRow]:
    """The rows of a list."""
    totals = money_column([one.total_amount for one in orders], frame.currency)
    rests = money_column([one.remaining_amount for one in orders], frame.currency)
    return [
        OrderRow(
            address=f"/desk/orders/{one.id}",
            code=one.short_code,
            name=one.customer.name if one.customer else one.summary,
            summary=one.summary if one.customer else "",
            at=one.occurred_at,
            when=frame.when(one.occurred_at),
            channel=named("channel", one.channel),
            status=one.status,
            payment=payment_state(one.status, one.payment_status, one.refunded_amount),
            kitchen=one.kitchen_ticket_status,
            to_collect=rest if one.status == "pending" and one.remaining_amount else None,
            total=total,
        )
        for one, total, rest in zip(orders, totals, rests, strict=True)
    ]
