"""How an order looks that is being recorded, told from what is written of it.

The same as `store.show` says of it a moment later: the answer is kept with its idempotency key by
the very statement that writes the order.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar

import msgspec

from tillhouse.kit.clock import iso
from tillhouse.orders.columns import SHOWN
from tillhouse.orders.payments.rules import OrderPaymentRow
from tillhouse.orders.recording.facts import RecordingFacts
from tillhouse.orders.recording.types import OrderPreview, PreviewedItem
from tillhouse.orders.types import (
    ItemShown,
    Order,
    PaymentShown,
    PaymentStatus,
    Person,
    StoreShown,
    TagShown,
)

T = TypeVar("T", bound=msgspec.Struct)

_ZERO = Decimal(0)
# Columns that are shown as they are written, and those that a new order leaves empty.
_WRITTEN = [column.name for column in SHOWN if column.is_recorded]
_LATER = [column.name for column in SHOWN if not column.is_recorded]


def knows(order: Mapping[str, Any], facts: RecordingFacts) -> bool:
    """Whether the facts have all that is shown: somebody found by name isn't among them."""
    has_customer = order["customer_id"] is None or facts.customer is not None
    return has_customer and all(tag in facts.tags for tag in order["tag_ids"])


def shown(
    order: Mapping[str, Any],
    items: Sequence[Mapping[str, Any]],
    payment: OrderPaymentRow | None,
    facts: RecordingFacts,
    now: datetime,
) -> Order:
    """The order as its answer shows it; `order` and `items` hold what is written, by columns."""
    ticket_id, server_id = order["ticket_id"], order["served_by_id"]
    return Order(
        **_columns(order, facts, now),
        deposit=None,
        receipt_url=None,
        items=[_fields_of(ItemShown, one) for one in items],
        payments=[_payment(payment)] if payment else [],
        refunds=[],
        disputes=[],
        customer=facts.customer,
        store=StoreShown(facts.store.id, facts.store.name) if facts.store else None,
        scheduled_for=order["scheduled_at"],
        kitchen_ticket_id=ticket_id,
        kitchen_ticket_status="queued" if ticket_id else None,
        recorded_by=Person(order["recorded_by_id"], order["recorded_by_name"]),
        served_by=Person(server_id, str(facts.server_name)) if server_id else None,
        tags=_tags(facts.tags[tag] for tag in order["tag_ids"]),
        date=order["occurred_at"],
        academic_term=facts.term,
    )


def previewed(
    order: Mapping[str, Any], items: Sequence[Mapping[str, Any]], facts: RecordingFacts
) -> OrderPreview:
    """The amounts of an order that would be written so."""
    known: dict[str, Any] = {**order, **_computed(order), "currency": facts.trade.currency}
    return OrderPreview(
        items=[_fields_of(PreviewedItem, one) for one in items],
        **{name: known[name] for name in OrderPreview.__struct_fields__ if name != "items"},
    )


def _columns(order: Mapping[str, Any], facts: RecordingFacts, now: datetime) -> dict[str, Any]:
    """The columns that are shown as they are, those among them that the database computes too."""
    return {
        **{name: order[name] for name in _WRITTEN},
        **dict.fromkeys(_LATER),
        **_computed(order),
        "adjustment_amount": _ZERO,
        "refunded_amount": _ZERO,
        "tip_amount": _ZERO,
        "currency": facts.trade.currency,
        "is_automated": False,
        "updated_at": iso(now),
    }


def _computed(order: Mapping[str, Any]) -> dict[str, Any]:
    total, paid = order["total_amount"], order["amount_paid"]
    return {
        "payment_status": _payment_status(total, paid),
        "remaining_amount": max(total - paid, _ZERO),
    }


def _payment_status(total: Decimal, paid: Decimal) -> PaymentStatus:
    if paid >= total:
        return "paid"
    return "partial" if paid else "pending"


def _fields_of(shown: type[T], row: Mapping[str, Any]) -> T:
    return shown(**{name: row[name] for name in shown.__struct_fields__})


def _payment(row: OrderPaymentRow) -> PaymentShown:
    return PaymentShown(
        id=row.id,
        kind="payment",
        amount=row.amount,
        method=row.method,
        status="successful",
        reference=row.reference,
        tip=row.tip_amount,
        change_amount=row.change_amount,
        transaction_id=row.transaction_id,
        provider_money=None,
        at=row.happened_at,
        by=Person(row.recorded_by_id, row.recorded_by_name),
    )


def _tags(tags: Iterable[TagShown]) -> list[TagShown]:
    return sorted(tags, key=lambda tag: (tag.name, tag.id))
