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
from tillhouse.jobs.kinds import Job, OutsideKind
from tillhouse.kit.clock import now
from tillhouse.kit.partial import facts_of
from tillhouse.kit.text import storable
from tillhouse.ledger.posting import settle
from tillhouse.orders.returning.paying_out import lock_refunded
from tillhouse.payins.hooks import HEARD_PAYOUT, HeardOutgoing
from tillhouse.payins.outgoing import (
    LockedRow,
    OutgoingCalls,
    OutgoingSteps,
    OutgoingWork,
    is_settled,
)
from tillhouse.payins.types import ProviderConnection
from tillhouse.payouts.freezing.actions import WITHDRAWAL
from tillhouse.payouts.freezing.store import lock_frozen
from tillhouse.payouts.gateway import Finds
from tillhouse.payouts.withdrawals.outcome import WithdrawalAnswer, apply, ledger_of, mark
from tillhouse.payouts.withdrawals.posting_rules import LEAVES, TRANSIT
from tillhouse.payouts.withdrawals.rules import step_of
from tillhouse.payouts.withdrawals.store import states
from tillhouse.payouts.withdrawals.store.states import WithdrawalState
from tillhouse.providers.payments.provider import PayoutRequest, SeenPayout

LOOK = "withdrawal_look"

Asked: TypeAlias = OutgoingWork[WithdrawalState, SeenPayout]
FindsHere: TypeAlias = Callable[[Db, Book, str], Awaitable[ProviderConnection | None]]


def kinds(services: Services, finds: Finds) -> tuple[OutsideKind, ...]:
    """The jobs that send a withdrawal, look at its fate, and follow a provider's hint."""
    look_up = partial(finds, services)
    return OutgoingSteps(
        sends=WITHDRAWAL,
        looks=LOOK,
        hears=HEARD_PAYOUT,
        begin_sending=partial(_begin_sending, look_up),
        begin_looking=partial(_begin_looking, look_up),
        begin_hearing=partial(_begin_hearing, look_up),
        mark=_mark,
        lock=partial(_lock, services),
        hint=_hint,
        is_under_way=lambda state: state.status == "processing",
        is_open=lambda seen: seen.state == "processing",
    ).kinds()


async def _begin_sending(finds: FindsHere, db: Db, job: Job) -> Asked | None:
    state = await states.lock_withdrawal(db, job.book_id, job.subject_id)
    if state is None or state.status not in ("requested", "processing"):
        return None
    connection, at = await finds(db, state.book, state.provider), now()
    is_frozen = await lock_frozen(db, state.book_id)
    if state.is_unclear:
        return _look(state, connection, at, is_frozen=is_frozen)
    if is_frozen:
        # Nothing was handed over: its job comes back when withdrawals go again.
        return None
    if state.status == "requested":
        ledger = ledger_of(state, at)
        transfer_id = await settle(db, ledger, state.hold_id, TRANSIT, kind=LEAVES)
        await states.update_sent(db, state, transfer_id, at)
        await mark(db, state, "processing", at)
    return _ask_for(state, connection, is_unclear=False)


async def _begin_looking(finds: FindsHere, db: Db, job: Job) -> Asked | None:
    state = await states.lock_withdrawal(db, job.book_id, job.subject_id)
    if state is None or state.status != "processing":
        return None
    is_frozen = await lock_frozen(db, state.book_id)
    connection = await finds(db, state.book, state.provider)
    return _look(state, connection, now(), is_frozen=is_frozen)


async def _begin_hearing(finds: FindsHere, db: Db, job: Job) -> Asked | None:
    """A hint is only a reason to ask; also one about a withdrawal that had ended."""
    told = msgspec.json.decode(job.payload or b"{}", type=HeardOutgoing)
    reference = storable(told.reference or "")
    state = await states.lock_by_provider_key(db, job.book_id, reference)
    if state is None or state.status in ("requested", "cancelled"):
        return None
    connection = await finds(db, state.book, state.provider)
    return _ask_for(state, connection, is_unclear=True)


def _look(
    state: WithdrawalState, connection: ProviderConnection | None, at: datetime, *, is_frozen: bool
) -> Asked:
    may_resend = not is_frozen and is_settled(state.asked_at, at)
    return _ask_for(state, connection, is_unclear=True, may_resend=may_resend)


def _ask_for(
    state: WithdrawalState,
    connection: ProviderConnection | None,
    *,
    is_unclear: bool,
    may_resend: bool = False,
) -> Asked:
    calls = None if connection is None else _calls(state, connection)
    return OutgoingWork(row=state, calls=calls, is_unclear=is_unclear, may_resend=may_resend)


def _calls(state: WithdrawalState, connection: ProviderConnection) -> OutgoingCalls[SeenPayout]:
    provider, credentials = connection.provider, connection.credentials
    key, narration = state.provider_key, state.narration or ""
    wanted = facts_of(PayoutRequest, state, reference=key, narration=narration)
    return OutgoingCalls(
        reference=state.provider_key,
        marks=connection.marks,
        send=partial(provider.pay_out, credentials, wanted),
        find=partial(provider.find_payout, credentials, state.provider_key),
        failed=partial(_failed, state.provider_key),
    )


def _failed(reference: str, reason: str) -> SeenPayout:
    return SeenPayout(reference=reference, provider_reference=None, state="failed", reason=reason)


async def _mark(
    db: Db, state: WithdrawalState, asked_at: datetime | None, account: bytes | None
) -> None:
    await states.update_asked(db, state, asked_at, account, now())


async def _lock(
    services: Services, db: Db, asked: WithdrawalState
) -> LockedRow[WithdrawalState, SeenPayout] | None:
    """A withdrawal with the refund that it pays out, if any."""
    refund = None
    if asked.order_id is not None:
        call = system_call(services, db, asked.business_id, asked.book)
        refund = await lock_refunded(call, asked.order_id, asked.id)
    state = await states.lock_withdrawal(db, asked.book_id, asked.id)
    if state is None:
        return None
    is_refund, failures_max = state.order_id is not None, services.settings.payout_failures_max

    async def bring(seen: SeenPayout) -> None:
        answered = WithdrawalAnswer(
            state=state, refund=refund, seen=seen, failures_max=failures_max, now=now()
        )
        await apply(db, answered)

    return LockedRow(
        row=state,
        changes=lambda seen: step_of(state.status, seen.state, is_refund=is_refund) is not None,
        apply=bring,
    )


def _hint(state: WithdrawalState) -> bytes:
    return msgspec.json.encode(HeardOutgoing(state.provider, "payout", state.provider_key))
