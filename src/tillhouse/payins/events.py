"""The events of money that comes into the wallet, for whatever it was paid, and of disputes."""

from tillhouse.kit.events import EventType
from tillhouse.webhooks.events import ChangeData

WALLET_DEPOSIT = EventType("wallet.deposit", "Money came into the wallet", "Wallet", ChangeData)
PAYMENT_DISPUTED = EventType(
    "payment.disputed", "A payment for no order is disputed", "Payments", ChangeData
)

EVENTS = (WALLET_DEPOSIT, PAYMENT_DISPUTED)
