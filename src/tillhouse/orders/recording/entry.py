"""The rows of a new order, by the names of their columns."""

from typing import Any

from tillhouse.access.call import Call
from tillhouse.access.callers import KeyCaller, SystemCaller, UserCaller
from tillhouse.kit.clock import iso
from tillhouse.kit.ids import CustomerId, OrderId, new_id, short_code
from tillhouse.kit.json import encode
from tillhouse.ledger.store.posting import Rows, rows
from tillhouse.orders import stock
from tillhouse.orders.columns import ASKED
from tillhouse.orders.money_types import actor_of, method_of
from tillhouse.orders.payments.rules import OrderPaymentRow, PaymentOrigin, Tender, payment_row
from tillhouse.orders.posting.rules import LedgerPosition, divided, postings
from tillhouse.orders.recording.facts import RecordingFacts
from tillhouse.orders.recording.rules.figures import PricedLine
from tillhouse.orders.recording.rules.sale import Sale
from tillhouse.orders.recording.store.record_statement import OrderRows
from tillhouse.orders.types import Channel, NewOrder


def entry_of(
    call: Call, new: NewOrder, facts: RecordingFacts, sale: Sale, customer_id: CustomerId | None
) -> OrderRows:
    """The rows of a sale, with what is posted for it."""
    order_id = OrderId(new_id())
    items = [_item(order_id, one, index) for index, one in enumerate(sale.lines)]
    encoded = encode(items)
    position = _position(new, sale, customer_id)
    posted = rows(order_id, postings(None, position), 0)
    moves = stock.moves(call, sale.needs, items, reserves=sale.status == "scheduled")
    order = {
        **_order(call, new, facts, sale),
        "id": order_id,
        "customer_id": customer_id,
        "change_amount": position.change,
        "credit_amount": position.credit,
        "promotion_customer_id": customer_id if new.promotion_id else None,
        "stock_state": _stock_state(sale) if moves else "none",
        "stock_round": 0,
        "created_at": iso(call.now),
        "postings": len(posted.posting),
        "ticket_id": new_id() if sale.wants_kitchen and sale.scheduled_at is None else None,
    }
    return OrderRows(
        id=order_id,
        currency=facts.trade.currency,
        has_session=new.table_session_id is not None,
        has_store=facts.store is not None,
        has_ticket=order["ticket_id"] is not None,
        order=order,
        items=items,
        items_json=encoded.decode(),
        items_bytes=len(encoded),
        moves=moves,
        posted=posted,
        payment=_payment(call, order_id, position, posted, sale) if position.paid else None,
    )


def _position(new: NewOrder, sale: Sale, customer_id: CustomerId | None) -> LedgerPosition:
    return divided(
        None,
        LedgerPosition(
            total=sale.totals.total,
            paid=sale.amount_paid,
            method=method_of(new.payment_method or "cash"),
            customer_id=customer_id,
            status=sale.status,
        ),
    )


def _payment(
    call: Call, order_id: OrderId, position: LedgerPosition, posted: Rows, sale: Sale
) -> OrderPaymentRow:
    """The payment with which the order is recorded."""
    tender = Tender(amount=position.paid, method=position.method)
    recorder = PaymentOrigin(
        payment_id=new_id(), by=actor_of(call.caller), now=call.now, happened_at=sale.occurred_at
    )
    transaction_id = posted.movement[0].id
    return payment_row(order_id, (None, position), transaction_id, recorder, tender)


def _stock_state(sale: Sale) -> str:
    return "reserved" if sale.status == "scheduled" else "taken"


def _origin(call: Call) -> tuple[str, Channel]:
    """Where an order comes from, and the channel of one that names none."""
    match call.caller:
        case KeyCaller():
            return "api", "other"
        case UserCaller():
            return "dashboard", "dashboard"
        case SystemCaller():
            # The system sells nothing itself: it records what was sold elsewhere.
            return "import", "other"


def _order(call: Call, new: NewOrder, facts: RecordingFacts, sale: Sale) -> dict[str, Any]:
    actor = actor_of(call.caller)
    source, channel = _origin(call)
    totals = sale.totals
    return {
        **{column.name: getattr(new, column.name) for column in ASKED},
        "short_code": short_code(),
        "idempotency_key": call.claim.key if call.claim else None,
        "idempotency_fingerprint": f"\\x{call.claim.fingerprint.hex()}" if call.claim else None,
        "status": sale.status,
        "summary": sale.summary,
        "subtotal_amount": totals.subtotal,
        "discount_amount": totals.discount,
        "service_charge_amount": totals.service_charge,
        "tax_amount": totals.tax,
        "exclusive_tax_amount": totals.exclusive_tax,
        "total_amount": totals.total,
        "amount_paid": sale.amount_paid,
        "payment_method": method_of(new.payment_method or "cash"),
        "store_id": facts.store.id if facts.store else None,
        "channel": new.channel or channel,
        "scheduled_at": iso(sale.scheduled_at) if sale.scheduled_at else None,
        "table_label": sale.table_label,
        "hotel_reservation_id": facts.stay.id if facts.stay else None,
        "hotel_room_id": facts.stay.room_id if facts.stay else None,
        "recorded_by_id": actor.id,
        "recorded_by_name": actor.name,
        "served_by_id": new.served_by_user_id,
        "entry_source": "import" if sale.is_import else source,
        "wants_kitchen": sale.wants_kitchen,
        "fires_at": iso(sale.fires_at) if sale.fires_at else None,
        "occurred_at": iso(sale.occurred_at),
    }


def _item(order_id: OrderId, one: PricedLine, index: int) -> dict[str, Any]:
    variant = one.variant
    is_named = variant is not None and not variant.is_implicit
    return {
        "id": new_id(),
        "order_id": order_id,
        "position": index,
        "line_type": one.line_type,
        "product_id": one.product.id if one.product else None,
        "variant_id": variant.id if variant else None,
        "product_name": one.product_name,
        "variant_name": variant.name if variant is not None and is_named else None,
        "quantity": one.quantity,
        "unit_price": one.unit_price,
        "original_unit_price": one.original_unit_price,
        "subtotal_amount": one.subtotal,
        "discount_amount": one.discount,
        "tax_amount": one.tax,
        "tax_rate": one.tax_rate,
        "total_price": one.total,
        "image_url": (variant.image_url if variant else None)
        or (one.product.image_url if one.product else None),
        "modifiers": one.modifiers,
        "components": one.components,
    }
