"""What orders need done in the background: tallies folded, scheduled orders sent to the kitchen.

Any number of processes may do it: a due order is claimed by one, and folding is taken in turns.
"""

import asyncio
import contextlib
import itertools
from uuid import UUID

import structlog

from tillhouse.access.call import Call
from tillhouse.access.callers import Book, SystemCaller
from tillhouse.access.process import Services
from tillhouse.db.pool import FAILURES
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Problem
from tillhouse.kit.ids import new_id
from tillhouse.kitchen import actions as kitchen
from tillhouse.kitchen.rules import AlreadyInKitchen
from tillhouse.kitchen.types import Sending
from tillhouse.orders.kitchen.store.due import claim_due
from tillhouse.orders.kitchen.store.sale import find_sale
from tillhouse.orders.listing.store.tallies import update_tallies

EVERY_S = 1.0
# Changes that gather for so many turns share the rows that they are folded into. A list sums them
# up besides: a few thousand cost it a millisecond.
FOLDED_EVERY = 5
FOLDED_AT_ONCE = 5_000

log = structlog.get_logger()


class OrderWorker:
    """Does in this process what is due, until it is stopped."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._loop: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._loop = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """End; what is under way is undone, and done again by the next."""
        if self._loop is not None:
            self._loop.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._loop

    async def _run(self) -> None:
        for turn in itertools.count():
            try:
                if turn % FOLDED_EVERY == 0:
                    await fold(self._services)
                while await fire_next(self._services):
                    pass
            except (*FAILURES, Problem) as error:
                log.warning("order_works_failed", error=str(error)[:200])
            await asyncio.sleep(EVERY_S)


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
