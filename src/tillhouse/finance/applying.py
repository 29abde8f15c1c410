"""Payments that arrived, applied by the room of their target without waiting for its job."""

from uuid import UUID

from tillhouse.access.call import system_call
from tillhouse.access.process import Services
from tillhouse.checkout.applying import apply_now
from tillhouse.checkout.attempts import TARGET as LINK
from tillhouse.kit.ids import BookKey, OrderId
from tillhouse.orders.deposits.applying import apply
from tillhouse.orders.deposits.beginning import TARGET as ORDER
from tillhouse.payins.types import Origin


async def apply_target(services: Services, origin: Origin, target: tuple[str, UUID]) -> None:
    """Apply the payments of a target (type, id); its job then finds nothing left to do."""
    kind, target_id = target
    if kind == LINK:
        await apply_now(services, BookKey(origin.book.id, target_id))
    elif kind == ORDER:
        async with services.pool.transaction() as db:
            call = system_call(services, db, origin.business_id, origin.book)
            await apply(call, OrderId(target_id))
