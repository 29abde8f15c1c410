"""Rate plans: list, show, make, change and delete."""

from typing import Any
from uuid import UUID

from asyncpg import Record
from msgspec import UNSET

from tillhouse.access.call import Call
from tillhouse.access.store.books import lock_book
from tillhouse.hotel.rates import rules, store
from tillhouse.hotel.rates.types import NewRatePlan, RatePlan, RatePlanFilter, RatePlanPatch
from tillhouse.hotel.rooms.rules import UNKNOWN_TYPE
from tillhouse.hotel.rooms.store import lock_type, show_type
from tillhouse.hotel.store import find_terms
from tillhouse.kit.clock import iso
from tillhouse.kit.deleted import Deleted
from tillhouse.kit.errors import FieldError, check, existing
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.page import PageOf, meta
from tillhouse.kit.partial import InvalidField


async def list_page(call: Call, wanted: RatePlanFilter) -> PageOf[RatePlan]:
    """One page of the rate plans that fit."""
    page, chosen = wanted.pick(), wanted.room_type_id
    total = await store.count_plans(call.db, call.book.id, chosen)
    rows = await store.list_plans(call.db, call.book.id, chosen, page)
    return PageOf([_shown(row) for row in rows], meta(page, total))


async def show(call: Call, rate_plan_id: UUID) -> RatePlan:
    """One rate plan."""
    return _shown(existing(await store.show_plan(call.db, call.book.id, rate_plan_id)))


async def create(call: Call, new: NewRatePlan) -> RatePlan:
    """Make a rate plan."""
    currency = (await find_terms(call.db, call.book.id)).currency
    await lock_book(call.db, call.book.id)
    known = await lock_type(call.db, call.book.id, new.room_type_id)
    unknown = [] if known else [UNKNOWN_TYPE]
    check(rules.plan_faults(new, currency, unknown))
    if await store.count_plans(call.db, call.book.id, None) >= rules.RATE_PLANS_MAX:
        raise rules.TooManyPlans
    key = BookKey(call.book.id, new_id())
    facts = rules.RatePlanFacts(
        name=new.name,
        price=new.price,
        weekday_prices=rules.stored_weekday_prices(new.weekday_prices),
        taxes=rules.stored_taxes(new.taxes),
    )
    await store.insert_plan(call.db, key, new.room_type_id, facts, call.now)
    return await show(call, key.id)


async def new_faults(call: Call, new: NewRatePlan) -> list[FieldError]:
    """The faults of a new rate plan."""
    currency = (await find_terms(call.db, call.book.id)).currency
    try:
        known = await show_type(call.db, call.book.id, new.room_type_id)
        unknown = [] if known else [UNKNOWN_TYPE]
    except InvalidField:
        unknown = []
    return rules.plan_faults(new, currency, unknown)


async def change(call: Call, rate_plan_id: UUID, patch: RatePlanPatch) -> RatePlan:
    """Change what the patch names; what is booked keeps its prices."""
    currency = (await find_terms(call.db, call.book.id)).currency
    check(rules.plan_faults(patch, currency, []))
    row = existing(await store.lock_plan(call.db, call.book.id, rate_plan_id))
    weekdays, taxes = patch.weekday_prices, patch.taxes
    facts = rules.RatePlanFacts(
        name=row["name"] if patch.name is UNSET else patch.name,
        price=row["price"] if patch.price is UNSET else patch.price,
        weekday_prices=row["weekday_prices"]
        if weekdays is UNSET
        else rules.stored_weekday_prices(weekdays),
        taxes=row["taxes"] if taxes is UNSET else rules.stored_taxes(taxes),
    )
    await store.update_plan(call.db, BookKey(call.book.id, rate_plan_id), facts, call.now)
    return await show(call, rate_plan_id)


async def patch_faults(call: Call, rate_plan_id: UUID, patch: RatePlanPatch) -> list[FieldError]:
    """The faults of a change of a rate plan, if there is one."""
    await show(call, rate_plan_id)
    currency = (await find_terms(call.db, call.book.id)).currency
    return rules.plan_faults(patch, currency, [])


async def delete(call: Call, rate_plan_id: UUID) -> Deleted:
    """Take a rate plan out of the list."""
    existing(await store.lock_plan(call.db, call.book.id, rate_plan_id))
    await store.delete_plan(call.db, BookKey(call.book.id, rate_plan_id), call.now)
    return Deleted(rate_plan_id, iso(call.now))


def _shown(row: Record) -> RatePlan:
    fields: dict[str, Any] = dict(row)
    fields["weekday_prices"] = rules.read_weekday_prices(row["weekday_prices"])
    fields["taxes"] = rules.read_taxes(row["taxes"])
    return RatePlan(**fields)
