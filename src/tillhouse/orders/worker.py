"""The work of orders in the background: scheduled orders sent to the kitchen.

Any number of processes may do it: a due order is claimed by one.
"""

from datetime import timedelta
from functools import partial

from tillhouse.access.call import system_call
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db, Pool
from tillhouse.jobs.kinds import Job, Kind, LocalKind
from tillhouse.jobs.worker import Worker
from tillhouse.kit.clock import now
from tillhouse.kitchen import actions as kitchen
from tillhouse.kitchen.rules import AlreadyInKitchen
from tillhouse.orders.deposits import jobs as deposits
from tillhouse.orders.kitchen.store import find_sale, lock_wanted, queue_due
from tillhouse.orders.listing.store.tallies import delete_empty_tallies
from tillhouse.orders.returning.sending import kinds as returning
from tillhouse.orders.storage.quota import COUNT

KITCHEN = "order_to_kitchen"
QUEUE_EVERY_S = 1.0
QUEUED_AT_ONCE = 100
EMPTIED_AT_ONCE = 5_000


async def queueing(services: Services) -> Worker:
    """The worker that queues scheduled orders for the kitchen in one process."""

    async def do_round() -> bool:
        return await queue_scheduled(services.pool) == QUEUED_AT_ONCE

    return Worker("scheduled orders", do_round, poll_s=QUEUE_EVERY_S)


async def queue_scheduled(pool: Pool) -> int:
    """Queue a job for each order that is due for the kitchen; how many."""
    async with pool.writing_once() as db:
        count = await queue_due(db, KITCHEN, now(), QUEUED_AT_ONCE)
        db.queues_jobs = count > 0
    return count


async def _forget_empty_tallies(db: Db, _job: Job) -> bool:
    """Forget kinds that no order is of any more: an order may have been of many, one by one."""
    return await delete_empty_tallies(db, EMPTIED_AT_ONCE) == EMPTIED_AT_ONCE


def chores(_services: Services) -> tuple[LocalKind, ...]:
    """The periodic jobs of this room."""
    empty = LocalKind(name="empty_tallies", run=_forget_empty_tallies, every=timedelta(days=1))
    return (COUNT, empty)


def kinds(services: Services) -> tuple[Kind, ...]:
    """The jobs of this room."""
    return (
        LocalKind(name=KITCHEN, run=partial(_fire, services)),
        *deposits.kinds(services),
        *returning(services),
    )


async def _fire(services: Services, db: Db, job: Job) -> bool:
    """Send a scheduled order to the kitchen, and tell its customer."""
    row = await lock_wanted(db, job.book_id, job.subject_id, now())
    if row is None:
        return False
    sale = await find_sale(db, job.book_id, job.subject_id)
    if sale is None:
        return False
    book = Book(job.book_id, row["environment"])
    call = system_call(services, db, row["business_id"], book)
    try:
        ticket = await kitchen.open_ticket(call, sale)
    except AlreadyInKitchen:
        # Somebody sent it by hand.
        return False
    # A message that has to be sent is a job as well: the commit wakes its worker.
    await kitchen.tell(call, ticket, "queued", sale)
    return False
