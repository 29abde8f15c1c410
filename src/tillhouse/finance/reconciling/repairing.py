"""The repair of differences: each step is one that would be taken anyway, and only adds."""

import asyncio
from datetime import timedelta
from uuid import UUID

import msgspec

from tillhouse.access.call import system_call
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.checkout.applying import apply_now
from tillhouse.checkout.attempts import TARGET as LINK
from tillhouse.finance.reconciling.types import ApplyFix, AskFix, Fix, RecordFix
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.runner import JobRunner
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Problem
from tillhouse.kit.ids import BookKey, OrderId
from tillhouse.orders.deposits.applying import apply
from tillhouse.orders.deposits.beginning import TARGET as ORDER
from tillhouse.payins.asking import look_up
from tillhouse.payins.connections import find_provider
from tillhouse.payins.hooks import HEARD_PAYOUT, HeardOutgoing
from tillhouse.payins.store.payins import list_targets
from tillhouse.payins.types import Origin
from tillhouse.payouts.freezing.resuming import WITHDRAWAL
from tillhouse.payouts.jobs import kinds
from tillhouse.payouts.withdrawals.sending import LOOK
from tillhouse.payouts.withdrawals.store.states import State, lock_withdrawal
from tillhouse.providers.payments.provider import HeardPayment, NotReached, Refused, Unclear

CALL_S = 60.0
# Left to this process so long; then a worker does it.
GRACE = timedelta(minutes=2)
_EXPECTED = (NotReached, Unclear, Refused, Problem, TimeoutError)


async def repair(services: Services, fix: Fix) -> str | None:
    """Take one step; why it could not be taken, if so."""
    try:
        async with asyncio.timeout(CALL_S):
            match fix:
                case RecordFix():
                    await _record(services, fix)
                case ApplyFix():
                    await apply_target(services, fix.origin, fix.target)
                case AskFix():
                    await ask_withdrawal(services, fix.book, fix.withdrawal_id)
    except _EXPECTED as error:
        return f"{type(error).__name__}: {error}"
    return None


async def _record(services: Services, fix: RecordFix) -> None:
    origin = fix.origin
    async with services.pool.reading() as db:
        connection = await find_provider(services, db, origin.book, origin.provider)
    await look_up(services, connection, origin, HeardPayment(None, fix.transaction))
    async with services.pool.reading() as db:
        targets = await list_targets(db, origin.book.id, origin.provider, fix.transaction)
    for target in targets:
        await apply_target(services, origin, target)


async def apply_target(services: Services, origin: Origin, target: tuple[str, UUID]) -> None:
    """Apply what arrived for a target, without waiting for its job."""
    kind, target_id = target
    if kind == LINK:
        await apply_now(services, BookKey(origin.book.id, target_id))
    elif kind == ORDER:
        async with services.pool.transaction() as db:
            call = system_call(services, db, origin.business_id, origin.book)
            await apply(call, OrderId(target_id))


async def ask_withdrawal(services: Services, book: Book, withdrawal_id: UUID) -> None:
    """Ask how a withdrawal ended, or let it be sent, by the job that does so."""
    async with services.pool.transaction() as db:
        state = await lock_withdrawal(db, book.id, withdrawal_id)
        if state is None:
            return
        job = _job_of(state)
        due_at = now() if job.kind == WITHDRAWAL else now() + GRACE
        await queue_job(db, job, due_at, now())
    if job.kind != WITHDRAWAL:
        runner = JobRunner(services.pool, kinds(services), services.job_results)
        await runner.run_now(job.kind, book.id, withdrawal_id)


def _job_of(state: State) -> NewJob:
    """The job that brings a withdrawal on: send it, look after it, or hear of it once more."""
    new = NewJob(book_id=state.book_id, kind=HEARD_PAYOUT, subject_id=state.id)
    if state.status == "requested":
        return msgspec.structs.replace(new, kind=WITHDRAWAL)
    if state.status == "processing":
        return msgspec.structs.replace(new, kind=LOOK)
    told = HeardOutgoing(state.provider, "payout", state.provider_key)
    return msgspec.structs.replace(new, payload=msgspec.json.encode(told))
