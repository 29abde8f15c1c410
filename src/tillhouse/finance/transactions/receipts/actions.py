"""Make a receipt of a transaction, and find it again by the address that was given out."""

from datetime import datetime
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.finance.transactions.receipts import rules, store
from tillhouse.finance.transactions.receipts.rules import Content
from tillhouse.finance.transactions.types import TransactionReceipt
from tillhouse.kit.errors import Missing, existing
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.json import encode
from tillhouse.orders.receipts.actions import Found
from tillhouse.orders.receipts.addresses import Address, Addresses

ADDRESSES = Addresses("transaction receipt addresses", "transaction-receipts")


async def make(call: Call, transaction_id: UUID) -> TransactionReceipt:
    """The address of a receipt that says how the transaction stands; valid for a week from now."""
    # Locked: two calls at once make one receipt, and what it says is of one moment.
    row = existing(await store.lock_transaction(call.db, call.book.id, transaction_id))
    content = Content(**row)
    newest = await store.find_newest(call.db, call.book.id, transaction_id)
    if newest is not None and _content(newest["content"]) == content:
        return TransactionReceipt(ADDRESSES.url(call.services, newest["id"], call.now))
    receipt_id = new_id()
    number = newest["number"] + 1 if newest else 1
    key, text = BookKey(call.book.id, receipt_id), encode(content).decode()
    await store.insert_receipt(call.db, key, transaction_id, number, text, call.now)
    return TransactionReceipt(ADDRESSES.url(call.services, receipt_id, call.now))


async def find(services: Services, db: Db, address: Address, now: datetime) -> Found:
    """The receipt at an address that is still good; every other one reads as missing."""
    if not ADDRESSES.is_good(services, address, now):
        raise Missing
    row = existing(await store.find_receipt(db, address.receipt_id))
    sheet = rules.sheet(_content(row["content"]), row["number"], row["created_at"])
    return Found(address.receipt_id, sheet, row["created_at"], row["book_id"])


def _content(text: str) -> Content:
    return msgspec.json.decode(text, type=Content)
