"""The jobs of deposits: to open an account that a crash prevented, to apply what arrived."""

from datetime import timedelta
from functools import partial

from tillhouse.access.call import system_call
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Again, Job, Kind, LocalKind, OutsideKind, Retry
from tillhouse.kit.ids import OrderId
from tillhouse.orders.deposits.actions import open_deposit
from tillhouse.orders.deposits.applying import apply
from tillhouse.orders.deposits.beginning import OPENING, TARGET
from tillhouse.orders.deposits.store import find_deposit
from tillhouse.payins.applying import job_kind


def kinds(services: Services) -> tuple[Kind, ...]:
    """The jobs of this package."""
    return (
        LocalKind(name=job_kind(TARGET), run=partial(_apply, services)),
        OutsideKind(
            name=OPENING,
            begin=_begin,
            run=partial(_open, services),
            record=_record,
            retry=Retry(attempts_max=20, base=timedelta(seconds=30)),
        ),
    )


async def _apply(services: Services, db: Db, job: Job) -> bool:
    """Apply what arrived for an order, in the transaction that takes the job."""
    facts = await find_deposit(db, job.book_id, job.subject_id)
    if facts is not None:
        book = Book(job.book_id, facts.environment)
        call = system_call(services, db, facts.business_id, book)
        await apply(call, OrderId(job.subject_id))
    return False


async def _begin(db: Db, job: Job) -> tuple[Book, OrderId] | None:
    facts = await find_deposit(db, job.book_id, job.subject_id)
    if facts is None:
        return None
    return Book(job.book_id, facts.environment), OrderId(job.subject_id)


async def _open(services: Services, which: tuple[Book, OrderId]) -> bool:
    return await open_deposit(services, *which)


async def _record(_db: Db, _job: Job, _which: tuple[Book, OrderId], is_open: bool) -> Again | None:
    return None if is_open else Again("no payment provider opened an account")
