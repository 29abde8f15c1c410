"""Make a receipt of an order, and find it again by the address that was given out."""

from datetime import datetime
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.kit.errors import Missing
from tillhouse.kit.ids import BookId, BookKey, OrderId, new_id
from tillhouse.kit.json import encode
from tillhouse.orders.kitchen.store.sale import lock_sale
from tillhouse.orders.receipts import rules, store
from tillhouse.orders.receipts.addresses import RECEIPTS, Address
from tillhouse.orders.receipts.rules import Content, Sheet
from tillhouse.orders.showing import show
from tillhouse.orders.types import ReceiptLink


class Found(msgspec.Struct, frozen=True):
    """A receipt, ready to be printed."""

    # Another one when the receipt says something else.
    id: UUID
    sheet: Sheet
    made_at: datetime
    book_id: BookId


async def make(call: Call, order_id: OrderId) -> ReceiptLink:
    """The address of a receipt that says how the order stands; valid for a week from now."""
    # Locked: two calls at once make one receipt, and what it says is of one moment.
    if await lock_sale(call.db, call.book.id, order_id) is None:
        raise Missing
    order = await show(call, order_id)
    seller = await store.find_seller(call.db, call.book.id, order_id)
    assert seller is not None, "the order is locked"  # noqa: S101
    content = rules.snapshot(order, seller)
    newest = await store.find_newest(call.db, call.book.id, order_id)
    if newest is not None and _content(newest["content"]) == content:
        return ReceiptLink(RECEIPTS.url(call.services, newest["id"], call.now))
    receipt_id = new_id()
    number = newest["number"] + 1 if newest else 1
    key = BookKey(call.book.id, receipt_id)
    text = encode(content).decode()
    await store.insert_receipt(call.db, key, order_id, number, text, call.now)
    return ReceiptLink(RECEIPTS.url(call.services, receipt_id, call.now))


async def find(services: Services, db: Db, address: Address, now: datetime) -> Found:
    """The receipt at an address that is still good; every other one reads as missing."""
    if not RECEIPTS.is_good(services, address, now):
        raise Missing
    row = await store.find_receipt(db, address.receipt_id)
    if row is None:
        raise Missing
    sheet = rules.sheet(_content(row["content"]), row["number"], row["created_at"])
    return Found(address.receipt_id, sheet, row["created_at"], row["book_id"])


def _content(text: str) -> Content:
    return msgspec.json.decode(text, type=Content)
