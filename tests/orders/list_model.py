"""The list of orders once more in plain Python: which fit, in which order, and their figures."""

import re
from collections.abc import Sequence
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from tests.orders.shop import Body

Order = Body
Query = dict[str, Any]
SOLD = ("pending", "completed", "refunded")
METHODS = ("cash", "transfer", "pos", "cloove_pay", "credit", "other")
_WORD = re.compile(r"\w+")


def fits(order: Order, query: Query) -> bool:
    """Whether an order meets every condition of a query."""
    return all(_CONDITIONS[name](order, value) for name, value in query.items())


def newest(orders: Sequence[Order], query: Query) -> list[Order]:
    """Those that fit, in the order of the list."""
    found = [order for order in orders if fits(order, query)]
    if query.get("scheduled_only") == "true":
        return sorted(found, key=lambda order: (order["scheduledFor"], order["id"]))
    return sorted(found, key=lambda order: (order["occurredAt"], order["id"]), reverse=True)


def summary(orders: Sequence[Order], query: Query, day: tuple[str, str]) -> Body:
    """The figures beside the list; a day begins and ends (not included) at an instant."""
    found = [order for order in orders if fits(order, query)]
    timeless = {n: v for n, v in query.items() if n not in ("start_date", "end_date")}
    today = [o for o in orders if fits(o, timeless) and day[0] <= o["occurredAt"] < day[1]]
    sold = [order for order in found if order["status"] in SOLD]
    revenue = _sum(sold)
    completed, refunded, cancelled = (
        [order for order in found if order["status"] == status]
        for status in ("completed", "refunded", "cancelled")
    )
    given_back = _sum(sold, "refundedAmount")
    pending = [order for order in found if order["status"] == "pending"]
    return {
        "todayOrders": sum(o["status"] != "cancelled" for o in today),
        "todayRevenue": _sum([order for order in today if order["status"] in SOLD]),
        "totalOrders": len(orders),
        "filteredOrders": len(found),
        "totalRevenue": revenue,
        "refundedAmount": given_back,
        "netRevenue": revenue - given_back,
        "averageOrderValue": _cents(revenue / len(sold)) if sold else 0,
        "pendingOrdersCount": sum(order["status"] == "pending" for order in orders),
        "pendingOutstandingAmount": _sum(pending, "remainingAmount"),
        "completedOrdersCount": len(completed),
        "completedRevenue": _sum([*completed, *refunded]),
        "cancelledOrdersCount": len(cancelled),
        "cancelledRevenue": _sum(cancelled),
        **{
            method: sum((_held(order).get(method, Decimal(0)) for order in found), Decimal(0))
            for method in METHODS
        },
    }


def figures(summary: Body) -> dict[str, Decimal]:
    """The figures of an answer, those of the methods among them by their names."""
    by_method = {one["method"]: one["amount"] for one in summary["receivedByMethod"]}
    plain = {name: value for name, value in summary.items() if name != "receivedByMethod"}
    return {name: Decimal(str(value)) for name, value in {**plain, **by_method}.items()}


def _held(order: Order) -> dict[str, Decimal]:
    """The amounts by their method, less what went back; one that was recorded in error is none."""
    held: dict[str, Decimal] = {}
    for payment in order["payments"]:
        amount = held.get(payment["method"], Decimal(0)) + Decimal(str(payment["amount"]))
        held[payment["method"]] = amount
    held = {method: amount for method, amount in held.items() if amount}
    for refund in order["refunds"]:
        amount = held.get(refund["method"], Decimal(0)) - Decimal(str(refund["amount"]))
        held[refund["method"]] = amount
    if change := Decimal(str(order["changeAmount"])):
        held["cash"] = held.get("cash", Decimal(0)) - change
    return held


def _sum(orders: Sequence[Order], name: str = "totalAmount") -> Decimal:
    return sum((Decimal(str(order[name])) for order in orders), Decimal(0))


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def _id(order: Order, name: str) -> str | None:
    return order[name]["id"] if order[name] else None


def _search(order: Order, text: str) -> bool:
    name = order["customer"]["name"].lower() if order["customer"] else ""
    words, wanted = _WORD.findall(name), _WORD.findall(text.lower())
    return order["shortCode"].startswith(text.strip().upper()) or (
        bool(words and wanted)
        and all(any(word.startswith(want) for word in words) for want in wanted)
    )


def _at(order: Order) -> datetime:
    return datetime.fromisoformat(order["occurredAt"])


# Dates come as `Given`: they mean more than their text says.
_CONDITIONS: dict[str, Any] = {
    "status": lambda o, v: o["status"] in v.split(","),
    "payment_status": lambda o, v: o["paymentStatus"] in v.split(","),
    "channel": lambda o, v: o["channel"] in v.split(","),
    "service_mode": lambda o, v: o["serviceMode"] in v.split(","),
    "payment_method": lambda o, v: v == o["paymentMethod"] or v in _held(o),
    "customer_id": lambda o, v: _id(o, "customer") == v,
    "store_id": lambda o, v: _id(o, "store") in (v, None),
    "store_ids": lambda o, v: _id(o, "store") in v.split(","),
    "recorded_by_id": lambda o, v: _id(o, "recordedBy") == v,
    "staff_id": lambda o, v: v in (_id(o, "recordedBy"), _id(o, "servedBy")),
    "served_by_user_id": lambda o, v: _id(o, "servedBy") == v,
    "table_session_id": lambda o, v: o["tableSessionId"] == v,
    "academic_term_id": lambda o, v: _id(o, "academicTerm") == v,
    "tag_ids": lambda o, v: bool({tag["id"] for tag in o["tags"]} & set(v.split(","))),
    "start_date": lambda o, v: _at(o) >= v.first,
    "end_date": lambda o, v: _at(o) <= v.last,
    "search": _search,
    "is_automated": lambda o, v: o["isAutomated"] is (v == "true"),
    "channel_fulfilled": lambda o, v: (o["channelFulfilledAt"] is not None) is (v == "true"),
    "scheduled_only": lambda o, v: v != "true" or o["status"] == "scheduled",
}


class Given(str):
    """A date or timestamp of a query, with the first and the last instant that it means."""

    first: datetime
    last: datetime

    def __new__(cls, text: str, first: datetime, last: datetime | None = None) -> "Given":
        """`text` goes over the wire."""
        given = super().__new__(cls, text)
        given.first, given.last = first, last or first
        return given
