"""The jobs of deposits: open an account that a crash prevented, apply payments, tell of them."""

from datetime import timedelta
from functools import partial

import msgspec

from tillhouse.access.call import system_call
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Again, Job, Kind, LocalKind, OutsideKind, Retry
from tillhouse.kit.ids import OrderId
from tillhouse.orders.deposits import disputing
from tillhouse.orders.deposits.applying import apply
from tillhouse.orders.deposits.beginning import OPENING, TARGET, open_deposit
from tillhouse.orders.deposits.store import find_deposit
from tillhouse.payins.applying import job_kind


class DepositToOpen(msgspec.Struct, frozen=True):
    """An order for whose deposit an account is to be opened."""

    book: Book
    order_id: OrderId


def kinds(services: Services) -> tuple[Kind, ...]:
    """The jobs of this package."""
    return (
        LocalKind(name=job_kind(TARGET), run=partial(_apply, services)),
        disputing.kind(services),
        OutsideKind(
            name=OPENING,
            begin=_begin,
            run=partial(_open, services),
            record=_record,
            retry=Retry(attempts_max=20, base=timedelta(seconds=30)),
        ),
    )


async def _apply(services: Services, db: Db, job: Job) -> bool:
    """Apply the payments of an order, in the transaction that takes the job."""
    facts = await find_deposit(db, job.book_id, job.subject_id)
    if facts is not None:
        book = Book(job.book_id, facts.environment)
        call = system_call(services, db, facts.business_id, book)
        await apply(call, OrderId(job.subject_id))
    return False


async def _begin(db: Db, job: Job) -> DepositToOpen | None:
    facts = await find_deposit(db, job.book_id, job.subject_id)
    if facts is None:
        return None
    return DepositToOpen(Book(job.book_id, facts.environment), OrderId(job.subject_id))


async def _open(services: Services, deposit: DepositToOpen) -> bool:
    return await open_deposit(services, deposit.book, deposit.order_id)


async def _record(_db: Db, _job: Job, _deposit: DepositToOpen, is_open: bool) -> Again | None:
    return None if is_open else Again("no payment provider opened an account")
