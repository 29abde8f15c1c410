"""The repair of differences: each step is one that would be taken anyway, and only adds."""

import asyncio
from uuid import UUID

import msgspec

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.finance.reconciling.types import (
    ApplyFix,
    AskFix,
    AskRefundFix,
    Fix,
    RecordFix,
)
from tillhouse.finance.transactions.requerying import apply_target
from tillhouse.folios.returning import sending as of_stays
from tillhouse.folios.returning.store import lock_return as lock_return_of_stay
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.runner import JobRunner
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Problem
from tillhouse.orders.returning import sending as refunds
from tillhouse.orders.returning.actions import RETURN
from tillhouse.orders.returning.sent import SentRefund
from tillhouse.orders.returning.store import lock_return
from tillhouse.payins.asking import look_up
from tillhouse.payins.connections import find_provider
from tillhouse.payins.store.payins import list_targets
from tillhouse.payouts.freezing.actions import WITHDRAWAL
from tillhouse.payouts.room import kinds
from tillhouse.payouts.withdrawals.asking import GRACE, ask
from tillhouse.payouts.withdrawals.sending import LOOK
from tillhouse.payouts.withdrawals.store.states import WithdrawalState, lock_withdrawal
from tillhouse.providers.payments.provider import (
    HeardPayment,
    NotReached,
    ProviderRefused,
    Unclear,
    in_words,
)

CALL_S = 60.0
_EXPECTED = (NotReached, Unclear, ProviderRefused, Problem, TimeoutError)


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
                case AskRefundFix():
                    await ask_refund(services, fix.book, fix.refund_id)
    except _EXPECTED as error:
        return in_words(error)
    return None


async def _record(services: Services, fix: RecordFix) -> None:
    origin = fix.origin
    async with services.pool.reading() as db:
        connection = await find_provider(services, db, origin.book, origin.provider)
    heard = HeardPayment(None, fix.transaction, may_be_back=True)
    await look_up(services, connection, origin, heard)
    async with services.pool.reading() as db:
        targets = await list_targets(db, origin.book.id, origin.provider, fix.transaction)
    for target in targets:
        await apply_target(services, origin, target)


async def ask_withdrawal(services: Services, book: Book, withdrawal_id: UUID) -> None:
    """Ask how a withdrawal ended, or let it be sent, by the job that does so."""
    async with services.pool.transaction() as db:
        state = await lock_withdrawal(db, book.id, withdrawal_id)
        job = None if state is None else _job_of(state)
        if job is not None:
            due_at = now() if job.kind == WITHDRAWAL else now() + GRACE
            await queue_job(db, job, due_at, now())
    if job is None:
        await ask(services, book, withdrawal_id)
    elif job.kind == LOOK:
        runner = JobRunner(services.pool, kinds(services), services.job_results)
        await runner.run_now(LOOK, book.id, withdrawal_id)


def _job_of(state: WithdrawalState) -> NewJob | None:
    """The job that sends a withdrawal, or looks after it; None where it has ended."""
    new = NewJob(book_id=state.book_id, kind=WITHDRAWAL, subject_id=state.id)
    match state.status:
        case "requested":
            return new
        case "processing":
            return msgspec.structs.replace(new, kind=LOOK)
        case _:
            return None


async def ask_refund(services: Services, book: Book, refund_id: UUID) -> None:
    """Ask how a refund of an order or a stay ended, or let it be sent, by the job that does so."""
    async with services.pool.transaction() as db:
        sends, looks, hears = RETURN, refunds.LOOK, refunds.HEARD
        sent: SentRefund | None = await lock_return(db, book.id, refund_id)
        if sent is None:
            sends, looks, hears = of_stays.SENDS, of_stays.LOOK, of_stays.HEARD
            sent = await lock_return_of_stay(db, book.id, refund_id)
        if sent is None:
            return
        kind = hears
        if sent.status == "pending":
            kind = sends if sent.asked_at is None else looks
        job = NewJob(book_id=book.id, kind=kind, subject_id=refund_id)
        await queue_job(db, job, now() if kind == sends else now() + GRACE, now())
    if kind != sends:
        jobs = (*refunds.kinds(services), *of_stays.kinds(services))
        await JobRunner(services.pool, jobs, services.job_results).run_now(kind, book.id, refund_id)
