"""The events of money that came in for a stay, or went back through its provider."""

from typing import Any

from tillhouse.access.call import Call
from tillhouse.folios.facts import Stay
from tillhouse.folios.returning.store import SentStayRefund, StayRefundEnding
from tillhouse.folios.store.payments import FolioPaymentRow
from tillhouse.kit.events import EventType
from tillhouse.orders.announce import amounts, received, told
from tillhouse.orders.deposits.beginning import METHOD
from tillhouse.orders.payments.rules import Tender
from tillhouse.webhooks.emit import emit
from tillhouse.webhooks.events import ChangeData

PAYMENT_REFUNDED = EventType(
    "payment.refunded", "A payment of a stay went back, or could not", "Payments", ChangeData
)

EVENTS = (PAYMENT_REFUNDED,)


async def announce_paid(call: Call, stay: Stay, row: FolioPaymentRow, tender: Tender) -> None:
    """payment.received for a payment that came in just now."""
    metadata: dict[str, Any] = {
        **amounts(row.amount),
        "paymentMethod": row.method,
        "hotelReservationId": stay.id,
        "customerId": stay.customer_id,
        "paymentId": row.id,
        "transactionId": row.transaction_id,
    }
    await emit(call, *received(call, ("hotel_reservation", stay.id, None), metadata, tender))


async def announce_refunded(
    call: Call, stay: Stay, sent: SentStayRefund, ending: StayRefundEnding,
    row: FolioPaymentRow | None,
) -> None:  # fmt: skip
    """payment.refunded for a refund through a provider that ended."""
    metadata: dict[str, Any] = {
        "refundId": sent.id,
        "refundStatus": ending.status,
        "reason": ending.reason,
        "amount": sent.amount,
        "paymentMethod": METHOD,
        "hotelReservationId": stay.id,
        "customerId": sent.customer_id,
        "transactionId": None if row is None else row.transaction_id,
    }
    entity = ("hotel_reservation", stay.id, None)
    await emit(call, PAYMENT_REFUNDED, told(ChangeData, call, PAYMENT_REFUNDED, entity, metadata))
