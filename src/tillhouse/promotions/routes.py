"""The routes of promotions: /v1/promotions."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.kit.deleted import Deleted
from tillhouse.kit.errors import FieldError
from tillhouse.promotions import actions
from tillhouse.promotions.types import NewPromotion, Promotion, PromotionFilter, PromotionPatch


async def list_all(call: Call, query: PromotionFilter) -> Reply[list[Promotion]]:
    """List promotions by name."""
    found, page = await actions.list_page(call, query)
    return Reply("Promotions", found, meta=page)


async def create(call: Call, body: NewPromotion) -> Reply[Promotion]:
    """Create a promotion."""
    return Reply("Promotion created", await actions.create(call, body))


async def new_faults(call: Call, body: NewPromotion) -> list[FieldError]:
    """The faults of the promotion."""
    return await actions.new_faults(call, body)


async def show(call: Call, promotion_id: UUID) -> Reply[Promotion]:
    """Read one promotion."""
    return Reply("Promotion", await actions.show(call, promotion_id))


async def change(call: Call, promotion_id: UUID, body: PromotionPatch) -> Reply[Promotion]:
    """Update a promotion; orders that were recorded keep what they got."""
    return Reply("Promotion updated", await actions.change(call, promotion_id, body))


async def patch_faults(call: Call, promotion_id: UUID, body: PromotionPatch) -> list[FieldError]:
    """The faults of a change of a promotion."""
    return await actions.patch_faults(call, promotion_id, body)


async def delete(call: Call, promotion_id: UUID) -> Reply[Deleted]:
    """Delete a promotion; orders that have it keep it."""
    return Reply("Promotion deleted", await actions.delete(call, promotion_id))


_PROMOTIONS = "/v1/promotions"
_ONE = _PROMOTIONS + "/{promotion_id}"
_READ = Scope("promotions:read")
_WRITE = Scope("promotions:write")

ROUTES: tuple[Route, ...] = (
    Route("GET", _PROMOTIONS, list_all, _READ),
    Route("POST", _PROMOTIONS, create, _WRITE, status=201, idempotent=True, faults=new_faults),
    Route("GET", _ONE, show, _READ),
    Route("PATCH", _ONE, change, _WRITE, faults=patch_faults),
    Route("DELETE", _ONE, delete, _WRITE),
)
