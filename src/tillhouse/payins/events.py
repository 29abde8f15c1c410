"""The event of money that comes into the wallet by itself, for no order."""

from tillhouse.kit.events import EventType
from tillhouse.webhooks.events import ChangeData

WALLET_DEPOSIT = EventType("wallet.deposit", "Money came into the wallet", "Wallet", ChangeData)

EVENTS = (WALLET_DEPOSIT,)
