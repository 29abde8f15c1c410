"""Receipts of transactions: made, and found again by the address that was given out."""

from datetime import datetime
from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.finance.transactions.receipts import rules, store
from tillhouse.finance.transactions.receipts.rules import Content
from tillhouse.finance.transactions.types import TransactionReceipt
from tillhouse.http.raw import RawRoute
from tillhouse.kit.errors import Missing, existing
from tillhouse.orders.receipts.actions import Found, kept_at
from tillhouse.orders.receipts.addresses import Address, Addresses
from tillhouse.orders.receipts.keeping import keep
from tillhouse.orders.receipts.pages import Receipts
from tillhouse.orders.receipts.store import Subject, with_imprint

ADDRESSES = Addresses("transaction receipt addresses", "transaction-receipts")


async def make(call: Call, transaction_id: UUID) -> TransactionReceipt:
    """The address of a receipt that says how the transaction stands; valid for a week from now."""
    # Locked: two calls at once make one receipt, and its content is of one moment.
    row = existing(await store.lock_transaction(call.db, call.book.id, transaction_id))
    content = Content(**with_imprint(row))
    subject = Subject(transaction_id=transaction_id)
    kept = await keep(call.db, call.book.id, subject, content, call.now)
    return TransactionReceipt(ADDRESSES.url(call.services, kept.id, call.now))


async def find(services: Services, db: Db, address: Address, now: datetime) -> Found:
    """The receipt at an address that is still good; every other one reads as missing."""
    if not ADDRESSES.is_good(services, address, now):
        raise Missing
    return await kept_at(db, address, "transaction_id", Content, rules.sheet)


def pages() -> tuple[RawRoute, ...]:
    """The raw routes of receipts of transactions."""
    return (Receipts(find).route(ADDRESSES),)
