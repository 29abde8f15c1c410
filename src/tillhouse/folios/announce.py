"""The event of money that came in for a stay."""

from typing import Any

from tillhouse.access.call import Call
from tillhouse.folios.facts import Stay
from tillhouse.folios.store.payments import FolioPaymentRow
from tillhouse.kit.clock import iso
from tillhouse.orders.events import PAYMENT_RECEIVED, PaymentData
from tillhouse.orders.payments.rules import Tender
from tillhouse.webhooks.emit import emit


async def paid(call: Call, stay: Stay, row: FolioPaymentRow, tender: Tender) -> None:
    """payment.received for what came in just now."""
    metadata: dict[str, Any] = {
        "amount": row.amount,
        "paymentMethod": row.method,
        "hotelReservationId": stay.id,
        "customerId": stay.customer_id,
        "paymentId": row.id,
        "transactionId": row.transaction_id,
    }
    data = PaymentData(
        business_id=call.business_id,
        event_type=PAYMENT_RECEIVED.code,
        entity_type="hotel_reservation",
        entity_id=stay.id,
        store_id=None,
        metadata=metadata,
        occurred_at=iso(call.now),
    )
    if tender.link is not None:
        data.payment_link = tender.link
        data.metadata["paymentLinkId"] = tender.link.id
    if tender.payer is not None:
        data.customer = tender.payer
        data.metadata["customerId"] = tender.payer.id
    await emit(call, PAYMENT_RECEIVED, data)
