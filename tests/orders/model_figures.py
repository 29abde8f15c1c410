"""The sums that follow from the orders of the model: accounts, debts, the list's figures."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from tests.orders.basket_model import ZERO
from tests.orders.order_model import SOLD, Order, Shop


def accounts(shop: Shop) -> dict[tuple[str, str | None], Decimal]:
    """Debits less credits of every account that isn't even."""
    held: defaultdict[tuple[str, str | None], Decimal] = defaultdict(Decimal)
    for kind, amount in shop.tenders.items():
        held[kind, None] += amount
    for order in shop.orders:
        sold = order.total if order.status in SOLD and not order.is_deleted else ZERO
        credit = "customer_credit" if order.customer else "unapplied_receipts"
        left = sold - order.paid + order.change + order.kept
        moves = {("receivable", order.customer): left, ("sales", None): -sold}
        for account, amount in (
            *moves.items(),
            (("cash", None), -order.change),
            ((credit, order.customer), order.spent - order.kept),
        ):
            held[account] += amount
    return {account: amount for account, amount in held.items() if amount}


def debts(orders: Iterable[Order]) -> dict[int, tuple[str, Decimal]]:
    """By the order's number who owes how much."""
    return {
        number: (order.customer, order.remaining)
        for number, order in enumerate(orders)
        if order.customer and order.status in SOLD and not order.is_deleted and order.remaining
    }


def summary(orders: Iterable[Order]) -> dict[str, Any]:
    """The figures beside the list of all orders."""
    live = [order for order in orders if not order.is_deleted]
    by = {
        status: [order for order in live if order.status == status]
        for status in ("pending", "completed", "cancelled")
    }
    sums = {status: sum((o.total for o in found), ZERO) for status, found in by.items()}
    count = len(by["pending"]) + len(by["completed"])
    revenue = sums["pending"] + sums["completed"]
    today = [order for order in live if not order.is_import]
    return {
        "todayOrders": sum(order.status != "cancelled" for order in today),
        "todayRevenue": sum((o.total for o in today if o.status in SOLD), ZERO),
        "totalOrders": len(live),
        "filteredOrders": len(live),
        "totalRevenue": revenue,
        "refundedAmount": ZERO,
        "netRevenue": revenue,
        "averageOrderValue": (revenue / count).quantize(Decimal("0.01"), ROUND_HALF_UP)
        if count
        else ZERO,
        "pendingOrdersCount": len(by["pending"]),
        "pendingOutstandingAmount": sum((o.remaining for o in by["pending"]), ZERO),
        "completedOrdersCount": len(by["completed"]),
        "completedRevenue": sums["completed"],
        "cancelledOrdersCount": len(by["cancelled"]),
        "cancelledRevenue": sums["cancelled"],
    }


def uses(shop: Shop) -> dict[tuple[str, str | None], int]:
    """How often each promotion was used: in all, and by whom."""
    found: dict[tuple[str, str | None], int] = {}
    for name, promotion in shop.promotions.items():
        found[name, None] = promotion.used.total()
        found |= {(name, who): count for who, count in promotion.used.items() if who is not None}
    return {use: count for use, count in found.items() if count}


def shown(order: Order, times: dict[str, str]) -> dict[str, Any]:
    """The fields of an order as it is read, those within others by their path."""
    status = "partial" if order.paid else "pending"
    is_cancelled = order.status == "cancelled"
    return {
        "status": order.status,
        "paymentStatus": "paid" if order.paid >= order.total else status,
        "subtotalAmount": order.subtotal,
        "totalAmount": order.total,
        "amountPaid": order.paid,
        "remainingAmount": order.remaining,
        "paymentMethod": order.method,
        "customer.name": order.customer,
        "scheduledFor": times[order.scheduled] if order.scheduled else None,
        "kitchenTicketStatus": order.stage,
        "cancellation.restocked": order.restocked if is_cancelled else None,
        "entrySource": "import" if order.is_import else "api",
    }
