"""Bills of stays: made, and found again by the address that was given out."""

from datetime import datetime
from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.folios.bills import rules, sheet_rules, store
from tillhouse.folios.bills.rules import Content
from tillhouse.folios.payments import available_of, lock
from tillhouse.folios.reading import folio_of
from tillhouse.folios.store import stays
from tillhouse.folios.types import Bill
from tillhouse.http.raw import RawRoute
from tillhouse.kit.errors import Missing, existing
from tillhouse.kit.ids import BookKey
from tillhouse.orders.receipts.actions import Found, kept_at
from tillhouse.orders.receipts.addresses import Address, Addresses
from tillhouse.orders.receipts.keeping import keep
from tillhouse.orders.receipts.pages import Receipts
from tillhouse.orders.receipts.store import Subject

ADDRESSES = Addresses("bill addresses", "bills")


async def make(call: Call, reservation_id: UUID) -> Bill:
    """The address of a bill that says how the stay stands; valid for a week from now."""
    key = BookKey(call.book.id, reservation_id)
    # The stay, its orders and the guest's credit are locked: two calls at once make one bill, of
    # one moment.
    available = await available_of(call, await lock(call, reservation_id))
    found = existing(await stays.find_folio(call.db, key))
    more = await store.find_particulars(call.db, key, rules.ITEMS_MAX + 1)
    content = rules.snapshot(found, folio_of(found), more, available)
    subject = Subject(reservation_id=reservation_id)
    kept = await keep(call.db, call.book.id, subject, content, call.now)
    return Bill(
        url=ADDRESSES.url(call.services, kept.id, call.now),
        number=kept.number,
        is_provisional=content.is_provisional,
    )


async def find(services: Services, db: Db, address: Address, now: datetime) -> Found:
    """The bill at an address that is still good; every other one reads as missing."""
    if not ADDRESSES.is_good(services, address, now):
        raise Missing
    return await kept_at(db, address, "reservation_id", Content, sheet_rules.sheet)


class NoBill(
    Missing,
    message="There is no bill at this address, or the address has expired. "
    "Ask the hotel for a new one.",
):
    """Expired, tampered with or never given out: all look alike."""


def pages() -> tuple[RawRoute, ...]:
    """The raw routes of bills."""
    return (Receipts(find, NoBill).route(ADDRESSES),)
