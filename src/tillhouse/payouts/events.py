"""The events of the wallet."""

from tillhouse.kit.events import EventType
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
