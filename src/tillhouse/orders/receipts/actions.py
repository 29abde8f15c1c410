"""Make a receipt of an order, and find it again by the address that was given out."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.kit.errors import Missing, existing
from tillhouse.kit.ids import BusinessId, OrderId
from tillhouse.orders.kitchen.store import lock_sale
from tillhouse.orders.receipts import rules, store
from tillhouse.orders.receipts.addresses import RECEIPTS, Address
from tillhouse.orders.receipts.keeping import keep
from tillhouse.orders.receipts.rules import Content, Sheet
from tillhouse.orders.showing import show
from tillhouse.orders.types import ReceiptLink

T = TypeVar("T")


class Found(msgspec.Struct, frozen=True):
    """A receipt, ready to be printed."""

    # Another one when the receipt says something else.
    id: UUID
    sheet: Sheet
    made_at: datetime
    business_id: BusinessId


async def make(call: Call, order_id: OrderId) -> ReceiptLink:
    """The address of a receipt that says how the order stands; valid for a week from now."""
    # Locked: two calls at once make one receipt, and its content is of one moment.
    if await lock_sale(call.db, call.book.id, order_id) is None:
        raise Missing
    order = await show(call, order_id)
    seller = await store.find_seller(call.db, call.book.id, order_id)
    assert seller is not None, "the order is locked"  # noqa: S101
    content, subject = rules.snapshot(order, seller), store.Subject(order_id=order_id)
    kept = await keep(call.db, call.book.id, subject, content, call.now)
    return ReceiptLink(RECEIPTS.url(call.services, kept.id, call.now))


async def find(services: Services, db: Db, address: Address, now: datetime) -> Found:
    """The receipt at an address that is still good; every other one reads as missing."""
    if not RECEIPTS.is_good(services, address, now):
        raise Missing
    return await kept_at(db, address, "order_id", Content, rules.sheet)


async def kept_at(
    db: Db, address: Address, of: str, kind: type[T], sheet: Callable[[T, int, datetime], Sheet]
) -> Found:
    """The receipt at a good address, of the subject that this column names."""
    row = existing(await store.find_receipt(db, address.receipt_id))
    if row[of] is None:
        raise Missing
    content = msgspec.json.decode(row["content"], type=kind)
    shown = sheet(content, row["number"], row["created_at"])
    return Found(address.receipt_id, shown, row["created_at"], row["business_id"])
