"""Nights of stays become orders, each once."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal

from tillhouse.access.call import Call
from tillhouse.folios import rules
from tillhouse.folios.facts import Stay
from tillhouse.folios.store import stays as store
from tillhouse.hotel.rates.rules import NightCost
from tillhouse.kit.ids import BookKey
from tillhouse.orders.recording.charging import Fee, charge


async def post(call: Call, stay: Stay, nights: Mapping[date, NightCost]) -> list[Decimal]:
    """Charge those of the nights that are no orders yet; their cost. The stay is locked."""
    key = BookKey(call.book.id, stay.id)
    posted = await store.list_posted_nights(call.db, key)
    missing = {night: cost for night, cost in nights.items() if night not in posted}
    for night, cost in missing.items():
        ends = rules.night_time(night, stay.time_zone, call.now)
        fee = Fee(
            name=rules.night_name(stay.room_number, stay.room_type, night),
            price=cost.price,
            tax=rules.night_tax(cost),
            # A night of a closed period is a sale of now.
            happened_at=await store.lock_moment(call.db, call.book.id, ends, call.now),
            customer_id=stay.customer_id,
            reservation_id=stay.id,
            room_id=stay.room_id,
        )
        await store.insert_night(call.db, key, night, await charge(call, fee))
    return [cost.total for cost in missing.values()]
