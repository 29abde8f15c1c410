"""Promotions: make, show, change, delete."""

from contextlib import suppress
from typing import Any
from uuid import UUID

from msgspec import UNSET

from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, Missing, check, existing
from tillhouse.kit.ids import BookKey, PromotionId, new_id
from tillhouse.kit.page import Deleted, PageOf
from tillhouse.kit.partial import InvalidField
from tillhouse.promotions import terms as rules
from tillhouse.promotions.facts import PromotionFacts, Terms
from tillhouse.promotions.store.promotions import PROMOTIONS, find_business, lock_promotion
from tillhouse.promotions.types import NewPromotion, Promotion, PromotionFilter, PromotionPatch


async def list_page(call: Call, wanted: PromotionFilter) -> PageOf[Promotion]:
    """One page of the promotions."""
    page, is_active = wanted.pick(), wanted.is_active
    return await PROMOTIONS.page(call.db, call.book.id, page, is_active=is_active)


async def create(call: Call, new: NewPromotion) -> Promotion:
    """Make a promotion."""
    business = await _business(call, new)
    terms = rules.new_terms(new, business.time_zone)
    check(rules.terms_faults(new, terms, business))
    key = BookKey(call.book.id, new_id())
    await PROMOTIONS.insert(call.db, key, terms, call.now)
    return await show(call, PromotionId(key.id))


async def new_faults(call: Call, new: NewPromotion) -> list[FieldError]:
    """Everything that speaks against making the promotion."""
    business = await _business(call, new)
    return rules.terms_faults(new, rules.new_terms(new, business.time_zone), business)


async def show(call: Call, promotion_id: PromotionId) -> Promotion:
    """One promotion."""
    return existing(await PROMOTIONS.show(call.db, call.book.id, promotion_id))


async def change(call: Call, promotion_id: PromotionId, patch: PromotionPatch) -> Promotion:
    """Change the fields that the patch names; recorded orders keep their discount."""
    old, used = await _lock(call, promotion_id)
    business = await _business(call, patch)
    terms = rules.changed_terms(old, patch, business.time_zone)
    check(rules.terms_faults(patch, terms, business, used))
    await PROMOTIONS.update(call.db, BookKey(call.book.id, promotion_id), terms, call.now)
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
    if not await PROMOTIONS.delete(call.db, BookKey(call.book.id, promotion_id), call.now):
        raise Missing
    return Deleted(promotion_id, iso(call.now))


async def _lock(call: Call, promotion_id: PromotionId) -> tuple[Terms, int]:
    return existing(await lock_promotion(call.db, call.book.id, promotion_id))


async def _business(call: Call, asked: NewPromotion | PromotionPatch) -> PromotionFacts:
    return await find_business(
        call.db, call.book.id, _ids(asked, "product_ids"), _ids(asked, "category_ids")
    )


def _ids(asked: NewPromotion | PromotionPatch, name: str) -> list[UUID]:
    with suppress(InvalidField):
        ids: Any = getattr(asked, name)
        return [] if ids is UNSET else ids
    return []
