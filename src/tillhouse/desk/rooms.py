"""The rooms that have operations: what can be tried, and what the rights of roles are read off."""

from tillhouse.accounts.room import ROOM as ACCOUNTS
from tillhouse.checkout.room import ROOM as CHECKOUT
from tillhouse.counts.room import ROOM as COUNTS
from tillhouse.customers.room import ROOM as CUSTOMERS
from tillhouse.developer.room import ROOM as DEVELOPER
from tillhouse.finance.room import ROOM as FINANCE
from tillhouse.folios.room import ROOM as FOLIOS
from tillhouse.hotel.room import ROOM as HOTEL
from tillhouse.kitchen.room import ROOM as KITCHEN
from tillhouse.labels.room import ROOM as LABELS
from tillhouse.ledger.room import ROOM as LEDGER
from tillhouse.messaging.room import ROOM as MESSAGING
from tillhouse.orders.room import ROOM as ORDERS
from tillhouse.payins.room import ROOM as PAYINS
from tillhouse.payouts.room import ROOM as PAYOUTS
from tillhouse.products.room import ROOM as PRODUCTS
from tillhouse.promotions.room import ROOM as PROMOTIONS
from tillhouse.search.room import ROOM as SEARCH
from tillhouse.seating.room import ROOM as SEATING
from tillhouse.stock.room import ROOM as STOCK
from tillhouse.stores.room import ROOM as STORES
from tillhouse.voice.room import ROOM as VOICE
from tillhouse.webhooks.room import ROOM as WEBHOOKS

ROOMS = (
    ACCOUNTS, CHECKOUT, COUNTS, CUSTOMERS, DEVELOPER, FINANCE, FOLIOS, HOTEL, KITCHEN, LABELS,
    LEDGER, MESSAGING, ORDERS, PAYINS, PAYOUTS, PRODUCTS, PROMOTIONS, SEARCH, SEATING, STOCK,
    STORES, VOICE, WEBHOOKS,
)  # fmt: skip
