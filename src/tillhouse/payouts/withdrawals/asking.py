"""Asking how a withdrawal ended, when somebody presses a button."""

from datetime import timedelta
from uuid import UUID

import msgspec

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.runner import JobRunner
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.payins.hooks import HEARD_PAYOUT, HeardOutgoing
from tillhouse.payouts.gateway import Finds, find
from tillhouse.payouts.withdrawals.sending import kinds
from tillhouse.payouts.withdrawals.store.states import claim_look, lock_withdrawal

# However many press a button, a provider is asked about a withdrawal this often at most.
MIN_INTERVAL = timedelta(seconds=3)
# Left to this process so long; then a worker does it.
GRACE = timedelta(minutes=2)


async def ask(services: Services, book: Book, withdrawal_id: UUID, finds: Finds = find) -> None:
    """Ask the provider, and record its answer, as after a hint of its own.

    Call it outside of any transaction. Nothing is asked about a withdrawal that was not sent.
    """
    at = now()
    async with services.pool.transaction() as db:
        state = await lock_withdrawal(db, book.id, withdrawal_id)
        if state is None or state.status in ("requested", "cancelled"):
            return
        if not await claim_look(db, state, at - MIN_INTERVAL, at):
            return
        told = HeardOutgoing(state.provider, "payout", state.provider_key)
        job = NewJob(
            book_id=book.id,
            kind=HEARD_PAYOUT,
            subject_id=state.id,
            payload=msgspec.json.encode(told),
        )
        await queue_job(db, job, at + GRACE, at)
    runner = JobRunner(services.pool, kinds(services, finds), services.job_results)
    await runner.run_now(HEARD_PAYOUT, book.id, withdrawal_id)
