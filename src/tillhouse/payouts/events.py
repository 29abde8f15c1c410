"""The events of the wallet."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from tillhouse.kit.clock import iso
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import BusinessId
from tillhouse.webhooks.emit import Event
from tillhouse.webhooks.events import ChangeData

WALLET_WITHDRAWAL_REQUESTED = EventType(
    "wallet.withdrawal.requested", "A withdrawal began", "Wallet", ChangeData
)
WALLET_WITHDRAWAL_COMPLETED = EventType(
    "wallet.withdrawal.completed", "A withdrawal settled", "Wallet", ChangeData
)
WALLET_WITHDRAWAL_FAILED = EventType(
    "wallet.withdrawal.failed", "A withdrawal failed", "Wallet", ChangeData
)

EVENTS = (
    WALLET_WITHDRAWAL_REQUESTED,
    WALLET_WITHDRAWAL_COMPLETED,
    WALLET_WITHDRAWAL_FAILED,
)


def withdrawal_event(
    event: EventType,
    business_id: BusinessId,
    withdrawal_id: UUID,
    amount: tuple[Decimal, str],
    more: dict[str, Any],
    now: datetime,
) -> Event:
    """A withdrawal of (an amount, a currency) was requested, completed or has failed."""
    data = ChangeData(
        business_id=business_id,
        event_type=event.code,
        entity_type="withdrawal",
        entity_id=withdrawal_id,
        store_id=None,
        metadata={"amount": amount[0], "currency": amount[1], **more},
        occurred_at=iso(now),
    )
    return event, data
