"""Promotions: make, show, change, delete."""

from contextlib import suppress
from typing import Any
from uuid import UUID

from msgspec import UNSET

from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.kit.deleted import Deleted
from tillhouse.kit.errors import FieldError, Missing, check
from tillhouse.kit.ids import PromotionId, new_id
from tillhouse.kit.page import PageOf, meta
from tillhouse.kit.partial import InvalidField
from tillhouse.promotions import terms as rules
from tillhouse.promotions.facts import Business, Terms
from tillhouse.promotions.store import promotions as store
from tillhouse.promotions.types import NewPromotion, Promotion, PromotionFilter, PromotionPatch


async def list_page(call: Call, wanted: PromotionFilter) -> PageOf[Promotion]:
    """One page of the promotions."""
    page = wanted.pick()
    total = await store.count_promotions(call.db, call.book.id, wanted)
    return PageOf(
        await store.list_promotions(call.db, call.book.id, wanted, page), meta(page, total)
    )


async def create(call: Call, new: NewPromotion) -> Promotion:
    """Make a promotion."""
    business = await _business(call, new)
    terms = rules.new_terms(new, business.time_zone)
    check(rules.terms_faults(new, terms, business))
    promotion_id = PromotionId(new_id())
    await store.insert_promotion(call.db, call.book.id, promotion_id, terms, call.now)
    return await show(call, promotion_id)


async def new_faults(call: Call, new: NewPromotion) -> list[FieldError]:
    """Everything that speaks against making the promotion."""
    business = await _business(call, new)
    return rules.terms_faults(new, rules.new_terms(new, business.time_zone), business)


async def show(call: Call, promotion_id: PromotionId) -> Promotion:
    """One promotion."""
    promotion = await store.show_promotion(call.db, call.book.id, promotion_id)
    if promotion is None:
        raise Missing
    return promotion


async def change(call: Call, promotion_id: PromotionId, patch: PromotionPatch) -> Promotion:
    """Change what the patch names; orders that were recorded keep what they got."""
    old, used = await _lock(call, promotion_id)
    business = await _business(call, patch)
    terms = rules.changed_terms(old, patch, business.time_zone)
    check(rules.terms_faults(patch, terms, business, used))
    await store.update_promotion(call.db, call.book.id, promotion_id, terms, call.now)
    return await show(call, promotion_id)


async def patch_faults(
    call: Call, promotion_id: PromotionId, patch: PromotionPatch
) -> list[FieldError]:
    """Everything that speaks against the change."""
    old, used = await _lock(call, promotion_id)
    business = await _business(call, patch)
    terms = rules.changed_terms(old, patch, business.time_zone)
    return rules.terms_faults(patch, terms, business, used)


async def delete(call: Call, promotion_id: PromotionId) -> Deleted:
    """Take a promotion from every list; orders that have it keep it."""
    if not await store.delete_promotion(call.db, call.book.id, promotion_id, call.now):
        raise Missing
    return Deleted(promotion_id, iso(call.now))


async def _lock(call: Call, promotion_id: PromotionId) -> tuple[Terms, int]:
    found = await store.lock_promotion(call.db, call.book.id, promotion_id)
    if found is None:
        raise Missing
    return found


async def _business(call: Call, asked: NewPromotion | PromotionPatch) -> Business:
    return await store.find_business(
        call.db, call.book.id, _ids(asked, "product_ids"), _ids(asked, "category_ids")
    )


def _ids(asked: NewPromotion | PromotionPatch, name: str) -> list[UUID]:
    with suppress(InvalidField):
        ids: Any = getattr(asked, name)
        return [] if ids is UNSET else ids
    return []
