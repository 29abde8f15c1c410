"""Sending withdrawals: at most once, whatever breaks.

A withdrawal is requested with a job. The worker takes the amount out of the wallet and marks the
withdrawal as being asked for, in one transaction; then it asks the provider, by a reference that
comes from the withdrawal's id; then it records the answer. No answer, or a worker that died, leaves
a withdrawal that may have been paid: from then on the provider is only asked how it ended, after 5
minutes, an hour, and each day. One that it still doesn't know after an hour is sent again by the
same reference, by which a provider pays once; where it refuses that and knows of none, it failed.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import TypeAlias

import msgspec

from tillhouse.access.call import system_call
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Again, Job, NewJob, OutsideKind
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.text import storable
from tillhouse.ledger.posting import settle
from tillhouse.orders.returning.paying_out import lock_refunded
from tillhouse.payins.hooks import HEARD_PAYOUT, HeardOutgoing
from tillhouse.payins.outgoing import (
    FIRST_LOOK,
    HEARING,
    LEASE,
    LOOKING,
    SENDING,
    Nothing,
    Outgoing,
    ask,
    is_settled,
)
from tillhouse.payins.types import Connection
from tillhouse.payouts.freezing.resuming import WITHDRAWAL
from tillhouse.payouts.freezing.store import lock_frozen
from tillhouse.payouts.gateway import Finds
from tillhouse.payouts.withdrawals.outcome import TRANSIT, Answered, apply, ledger_of, mark
from tillhouse.payouts.withdrawals.rules import SOURCE
from tillhouse.payouts.withdrawals.store import states
from tillhouse.payouts.withdrawals.store.states import State
from tillhouse.providers.payments.provider import PayoutRequest, SeenPayout

LOOK = "withdrawal_look"


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """A withdrawal whose provider is asked: to pay, or how it ended."""

    state: State
    connection: Connection | None
    wanted: PayoutRequest
    # Whether an earlier call may have been executed: then the provider is asked how it ended.
    is_unclear: bool
    # Whether one that the provider doesn't know may be sent again.
    may_resend: bool


Came: TypeAlias = SeenPayout | Nothing
FindsHere: TypeAlias = Callable[[Db, Book, str], Awaitable[Connection | None]]


def kinds(services: Services, finds: Finds) -> tuple[OutsideKind, ...]:
    """The jobs that send a withdrawal, look what became of it, and follow a provider's hint."""
    look_up = partial(finds, services)
    return (
        OutsideKind(
            name=WITHDRAWAL,
            begin=partial(_begin_sending, look_up),
            run=_ask,
            record=partial(_record_sending, services),
            record_late=partial(_record_late, services),
            retry=SENDING,
            lease=LEASE,
        ),
        OutsideKind(
            name=LOOK,
            begin=partial(_begin_looking, look_up),
            run=_ask,
            record=partial(_record_look, services),
            record_late=partial(_record_late, services),
            retry=LOOKING,
            lease=LEASE,
        ),
        OutsideKind(
            name=HEARD_PAYOUT,
            begin=partial(_begin_hearing, look_up),
            run=_ask,
            record=partial(_record_heard, services),
            record_late=partial(_record_late, services),
            retry=HEARING,
            lease=LEASE,
        ),
    )


async def _begin_sending(finds: FindsHere, db: Db, job: Job) -> Ask | None:
    state = await states.lock_withdrawal(db, job.book_id, job.subject_id)
    if state is None or state.status not in ("requested", "processing"):
        return None
    connection = await finds(db, state.book, state.provider)
    at = now()
    if state.status == "requested":
        if await lock_frozen(db, state.book_id):
            # Its job comes back when withdrawals go again.
            return None
        ledger = ledger_of(state, at)
        transfer_id = await settle(db, ledger, state.hold_id, TRANSIT, kind=SOURCE)
        await states.update_sent(db, state, transfer_id, at)
        await mark(db, state, "processing", at)
        return _ask_for(state, connection, is_unclear=False, may_resend=False)
    is_frozen = await lock_frozen(db, state.book_id)
    if not state.is_unclear:
        if is_frozen:
            # Nothing was handed over: its job comes back when withdrawals go again.
            return None
        await states.update_asked(db, state, at, at, is_unclear=True)
        return _ask_for(state, connection, is_unclear=False, may_resend=False)
    return _look(state, connection, at, is_frozen=is_frozen)


async def _begin_looking(finds: FindsHere, db: Db, job: Job) -> Ask | None:
    state = await states.lock_withdrawal(db, job.book_id, job.subject_id)
    if state is None or state.status != "processing":
        return None
    is_frozen = await lock_frozen(db, state.book_id)
    connection = await finds(db, state.book, state.provider)
    return _look(state, connection, now(), is_frozen=is_frozen)


async def _begin_hearing(finds: FindsHere, db: Db, job: Job) -> Ask | None:
    """A hint is only a reason to ask; also one about a withdrawal that had ended."""
    told = msgspec.json.decode(job.payload or b"{}", type=HeardOutgoing)
    reference = storable(told.reference or "")
    state = await states.lock_by_provider_key(db, job.book_id, reference)
    if state is None or state.status in ("requested", "cancelled"):
        return None
    connection = await finds(db, state.book, state.provider)
    return _ask_for(state, connection, is_unclear=True, may_resend=False)


def _look(state: State, connection: Connection | None, at: datetime, *, is_frozen: bool) -> Ask:
    may_resend = not is_frozen and is_settled(state.asked_at, at)
    return _ask_for(state, connection, is_unclear=True, may_resend=may_resend)


def _ask_for(
    state: State, connection: Connection | None, *, is_unclear: bool, may_resend: bool
) -> Ask:
    wanted = PayoutRequest(
        reference=state.provider_key,
        amount=state.amount,
        currency=state.currency,
        bank_code=state.bank_code,
        account_number=state.account_number,
        account_name=state.account_name,
        narration=state.narration or "",
    )
    return Ask(
        state=state,
        connection=connection,
        wanted=wanted,
        is_unclear=is_unclear,
        may_resend=may_resend,
    )


async def _ask(wanted: Ask) -> Came:
    if wanted.connection is None:
        return Nothing(not wanted.is_unclear, "the payment provider is not connected")
    provider, credentials = wanted.connection.provider, wanted.connection.credentials
    payout = wanted.wanted
    calls = Outgoing(
        reference=payout.reference,
        send=partial(provider.pay_out, credentials, payout),
        find=partial(provider.find_payout, credentials, payout.reference),
        failed=partial(_failed, payout.reference),
    )
    return await ask(calls, is_unclear=wanted.is_unclear, may_resend=wanted.may_resend)


def _failed(reference: str, reason: str) -> SeenPayout:
    return SeenPayout(reference=reference, provider_reference=None, state="failed", reason=reason)


async def _record_sending(
    services: Services, db: Db, _job: Job, ask: Ask, came: Came
) -> Again | None:
    state = await _apply(services, db, ask, came)
    if state is None:
        return None
    if isinstance(came, Nothing) and came.is_certain:
        await states.update_asked(db, state, None, now(), is_unclear=False)
        return Again(came.reason)
    is_open = isinstance(came, Nothing) or came.state == "processing"
    if state.status == "processing" and is_open:
        look = NewJob(book_id=state.book_id, kind=LOOK, subject_id=state.id)
        await queue_job(db, look, now() + FIRST_LOOK, now())
    return None


async def _record_look(services: Services, db: Db, _job: Job, ask: Ask, came: Came) -> Again | None:
    if await _apply(services, db, ask, came) is None:
        return None
    if isinstance(came, Nothing):
        return Again(came.reason)
    return Again("processing") if came.state == "processing" else None


async def _record_heard(
    services: Services, db: Db, _job: Job, ask: Ask, came: Came
) -> Again | None:
    if isinstance(came, Nothing):
        return Again(came.reason)
    await _apply(services, db, ask, came)
    return None


async def _record_late(services: Services, db: Db, _job: Job, ask: Ask, came: Came) -> None:
    """The end of a withdrawal counts whenever it is heard."""
    await _apply(services, db, ask, came)


async def _apply(services: Services, db: Db, ask: Ask, came: Came) -> State | None:
    """Bring the withdrawal to what was said; the withdrawal as it was before."""
    asked, back = ask.state, None
    if asked.order_id is not None:
        call = system_call(services, db, asked.business_id, asked.book)
        back = await lock_refunded(call, asked.order_id, asked.id)
    state = await states.lock_withdrawal(db, asked.book_id, asked.id)
    if state is not None and isinstance(came, SeenPayout):
        failures_max = services.settings.payout_failures_max
        answered = Answered(state=state, back=back, seen=came, failures_max=failures_max, now=now())
        await apply(db, answered)
    return state
