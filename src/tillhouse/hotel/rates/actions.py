"""Rate plans: list, show, make, change and delete."""

from uuid import UUID

from msgspec import UNSET

from tillhouse.access.call import Call
from tillhouse.access.store.businesses import find_terms, lock_book
from tillhouse.hotel.rates import rules
from tillhouse.hotel.rates.store import RATE_PLANS
from tillhouse.hotel.rates.types import NewRatePlan, RatePlan, RatePlanFilter, RatePlanPatch
from tillhouse.hotel.rooms.rules import UNKNOWN_TYPE
from tillhouse.hotel.rooms.store import ROOM_TYPES, lock_type
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, check, existing
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.page import Deleted, PageOf
from tillhouse.kit.partial import InvalidField


async def list_page(call: Call, wanted: RatePlanFilter) -> PageOf[RatePlan]:
    """One page of the rate plans that fit."""
    page, type_id = wanted.pick(), wanted.room_type_id
    return await RATE_PLANS.page(call.db, call.book.id, page, room_type_id=type_id)


async def show(call: Call, rate_plan_id: UUID) -> RatePlan:
    """One rate plan."""
    return existing(await RATE_PLANS.show(call.db, call.book.id, rate_plan_id))


async def create(call: Call, new: NewRatePlan) -> RatePlan:
    """Make a rate plan."""
    currency = (await find_terms(call.db, call.book.id)).currency
    await lock_book(call.db, call.book.id)
    known = await lock_type(call.db, call.book.id, new.room_type_id)
    unknown = [] if known else [UNKNOWN_TYPE]
    check(rules.plan_faults(new, currency, unknown))
    if await RATE_PLANS.count(call.db, call.book.id) >= rules.RATE_PLANS_MAX:
        raise rules.TooManyPlans
    key = BookKey(call.book.id, new_id())
    facts = rules.RatePlanFacts(
        name=new.name,
        price=new.price,
        weekday_prices=rules.stored_weekday_prices(new.weekday_prices),
        taxes=rules.stored_taxes(new.taxes),
    )
    await RATE_PLANS.insert(call.db, key, facts, call.now, new.room_type_id)
    return await show(call, key.id)


async def new_faults(call: Call, new: NewRatePlan) -> list[FieldError]:
    """The faults of a new rate plan."""
    currency = (await find_terms(call.db, call.book.id)).currency
    try:
        known = await ROOM_TYPES.show(call.db, call.book.id, new.room_type_id)
        unknown = [] if known else [UNKNOWN_TYPE]
    except InvalidField:
        unknown = []
    return rules.plan_faults(new, currency, unknown)


async def change(call: Call, rate_plan_id: UUID, patch: RatePlanPatch) -> RatePlan:
    """Change the fields that the patch names; booked nights keep their prices."""
    currency = (await find_terms(call.db, call.book.id)).currency
    check(rules.plan_faults(patch, currency, []))
    old = existing(await RATE_PLANS.lock(call.db, call.book.id, rate_plan_id))
    weekdays, taxes = patch.weekday_prices, patch.taxes
    facts = rules.RatePlanFacts(
        name=old.name if patch.name is UNSET else patch.name,
        price=old.price if patch.price is UNSET else patch.price,
        weekday_prices=rules.stored_weekday_prices(
            old.weekday_prices if weekdays is UNSET else weekdays
        ),
        taxes=rules.stored_taxes(old.taxes if taxes is UNSET else taxes),
    )
    await RATE_PLANS.update(call.db, BookKey(call.book.id, rate_plan_id), facts, call.now)
    return await show(call, rate_plan_id)


async def patch_faults(call: Call, rate_plan_id: UUID, patch: RatePlanPatch) -> list[FieldError]:
    """The faults of a change of a rate plan, if there is one."""
    await show(call, rate_plan_id)
    currency = (await find_terms(call.db, call.book.id)).currency
    return rules.plan_faults(patch, currency, [])


async def delete(call: Call, rate_plan_id: UUID) -> Deleted:
    """Take a rate plan out of the list."""
    existing(await RATE_PLANS.lock(call.db, call.book.id, rate_plan_id))
    await RATE_PLANS.delete(call.db, BookKey(call.book.id, rate_plan_id), call.now)
    return Deleted(rate_plan_id, iso(call.now))
