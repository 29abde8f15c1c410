"""The events of money that comes into the wallet, for whatever it was paid, and of disputes."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import StoreId
from tillhouse.payins.disputes.types import Dispute
from tillhouse.payins.types import Payin
from tillhouse.webhooks.emit import Event, emit
from tillhouse.webhooks.events import ChangeData

WALLET_DEPOSIT = EventType("wallet.deposit", "Money came into the wallet", "Wallet", ChangeData)
PAYMENT_DISPUTED = EventType(
    "payment.disputed", "A payment for no order is disputed", "Payments", ChangeData
)

_METHOD = "cloove_pay"
PAYIN_DISPUTE = "payin_dispute"
"""The job that the room of folios declares; its subject is the dispute."""
ORDER_DISPUTE = "order_dispute"
"""The one that the room of orders declares."""

EVENTS = (WALLET_DEPOSIT, PAYMENT_DISPUTED)


def deposited(
    call: Call,
    payin: Payin,
    transaction_id: UUID,
    about: Mapping[str, Any],
    store_id: StoreId | None = None,
) -> Event:
    """wallet.deposit of a payment that its target has taken; `about` names link, order, customer.

    The wallet holds the amount less the fee.
    """
    data = ChangeData(
        business_id=call.business_id,
        event_type=WALLET_DEPOSIT.code,
        entity_type="transaction",
        entity_id=transaction_id,
        store_id=store_id,
        metadata={
            "amount": payin.amount,
            "paymentMethod": _METHOD,
            **about,
            "transactionId": transaction_id,
            "currency": payin.currency,
            "fee": payin.fee,
        },
        occurred_at=iso(call.now),
    )
    return WALLET_DEPOSIT, data


async def announce_dispute(call: Call, dispute: Dispute) -> None:
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
