"""The event of a dispute whose payment was for no order; orders tell of theirs themselves."""

from typing import Any

from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.payins.disputes.types import Dispute
from tillhouse.payins.events import PAYMENT_DISPUTED
from tillhouse.webhooks.emit import emit
from tillhouse.webhooks.events import ChangeData

PAYIN_DISPUTE = "payin_dispute"
"""The job that the room of folios declares; its subject is the dispute."""
ORDER_DISPUTE = "order_dispute"
"""The one that the room of orders declares."""


async def announce(call: Call, dispute: Dispute) -> None:
    """Tell of a dispute, and of the stay that its payment was for."""
    metadata: dict[str, Any] = {
        "status": dispute.status,
        "amount": dispute.amount,
        "currency": dispute.currency,
        "paymentLinkId": dispute.payment_link_id,
        "reservationId": dispute.reservation_id,
        "dispute": dispute,
    }
    data = ChangeData(
        business_id=call.business_id,
        event_type=PAYMENT_DISPUTED.code,
        entity_type="dispute",
        entity_id=dispute.id,
        store_id=None,
        metadata=metadata,
        occurred_at=iso(call.now),
    )
    await emit(call, PAYMENT_DISPUTED, data)
