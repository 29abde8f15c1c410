"""What orders need done in the background: tallies folded, scheduled orders sent to the kitchen.

Any number of processes may do it: a due order is claimed by one, and folding is taken in turns.
"""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.access.callers import Book, SystemCaller
from tillhouse.access.process import Services
from tillhouse.jobs.worker import Worker
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id
from tillhouse.kitchen import actions as kitchen
from tillhouse.kitchen.rules import AlreadyInKitchen
from tillhouse.kitchen.types import Sending
from tillhouse.orders.kitchen.store.due import claim_due
from tillhouse.orders.kitchen.store.sale import find_sale
from tillhouse.orders.listing.store.tallies import update_tallies

FIRE_EVERY_S = 1.0
# Changes that gather for so long share the rows that they are folded into. A list sums them up
# besides: a few thousand cost it a millisecond.
FOLD_EVERY_S = 5.0
FOLDED_AT_ONCE = 5_000


async def folding(services: Services) -> Worker:
    """What folds the tallies in one process."""

    async def do_round() -> bool:
        await fold(services)
        return False

    return Worker("tallies", do_round, poll_s=FOLD_EVERY_S)


async def firing(services: Services) -> Worker:
    """What sends scheduled orders to the kitchen in one process."""

    async def do_round() -> bool:
        return await fire_next(services)

    return Worker("scheduled orders", do_round, poll_s=FIRE_EVERY_S)


async def fold(services: Services, at_once: int = FOLDED_AT_ONCE) -> int:
    """Fold the changes of the tallies that there are now; how many they were."""
    folded = 0
    while True:
        async with services.pool.transaction() as db:
            count = await update_tallies(db, at_once)
        folded += count
        if count < at_once:
            return folded


async def fire_next(services: Services) -> bool:
    """Send the next order that is due to the kitchen; whether there was one."""
    sending: Sending | None = None
    moment = now()
    async with services.pool.transaction() as db:
        row = await claim_due(db, moment)
        if row is None:
            return False
        call = Call(
            db=db,
            services=services,
            now=moment,
            request_id=str(new_id()),
            ip="local",
            business_id=row["business_id"],
            book=Book(row["book_id"], row["environment"]),
            caller=SystemCaller(),
        )
        if row["is_wanted"]:
            sending = await _fire(call, row["id"])
    if sending is not None:
        await kitchen.send(services, sending)
    return True


async def _fire(call: Call, order_id: UUID) -> Sending | None:
    sale = await find_sale(call.db, call.book.id, order_id)
    if sale is None:
        return None
    try:
        ticket = await kitchen.open_ticket(call, sale)
    except AlreadyInKitchen:
        # Somebody sent it by hand.
        return None
    return (await kitchen.tell(call, ticket, "queued", sale)).sending
