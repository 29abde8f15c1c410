"""Claims a call that is due: the intent to dial it is committed before anybody is dialled."""

from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, new_id
from tillhouse.kit.partial import facts_of
from tillhouse.providers.telephony.provider import NumberAccount
from tillhouse.voice.dispatching import rules
from tillhouse.voice.dispatching.ending import tell_end
from tillhouse.voice.dispatching.store import claiming as store
from tillhouse.voice.dispatching.store.claiming import Claimed
from tillhouse.voice.dispatching.store.handling import CallEnd, update_ended
from tillhouse.voice.numbers.actions import unseal

# A worker renews its leases several times in so long; one that dies holds its slots no longer.
LEASE = timedelta(seconds=15)
_POSTPONED_AT_ONCE = 100


class CallLease(msgspec.Struct, frozen=True):
    """Until when a call is held, and how long its number dials no other one."""

    until: datetime
    pace: timedelta


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """A call that is to be dialled now, by this worker alone."""

    call: Claimed
    attempt_id: UUID
    attempt: int
    generation: int
    account: NumberAccount
    begun_at: datetime
    pace: timedelta


async def claim_next(
    services: Services, book_id: BookId, number_id: UUID, now: datetime
) -> Intent | bool:
    """The next call of a number to dial; else whether a call was moved, so that more may follow."""
    async with services.pool.transaction() as db:
        number = await store.lock_number(db, book_id, number_id, now)
        if number is None:
            return False
        call = await store.lock_next(db, book_id, number_id, now, number["max_concurrent_calls"])
        if call is None:
            return False
        match rules.judge(_waiting(call), now):
            case rules.Postponed():
                return await _postpone_some(db, book_id, number_id, now)
            case rules.Over() as over:
                await end_call(db, call, over, now)
                return True
            case None:
                pace = timedelta(seconds=1 / number["calls_per_second"])
                return await intend(services, db, call, now, CallLease(now + LEASE, pace))


async def _postpone_some(db: Db, book_id: BookId, number_id: UUID, now: datetime) -> bool:
    """Let calls wait that are due at night, many of a campaign at a time; whether more are due."""
    calls = await store.lock_waiting(db, book_id, number_id, now, _POSTPONED_AT_ONCE)
    judged = [(call.id, rules.judge(_waiting(call), now)) for call in calls]
    times = {call_id: what.until for call_id, what in judged if isinstance(what, rules.Postponed)}
    await store.update_quiet(db, book_id, times, now)
    return len(calls) == _POSTPONED_AT_ONCE or len(times) < len(calls)


def _waiting(call: Claimed) -> rules.Waiting:
    return facts_of(rules.Waiting, call, phone=call.customer_phone)


async def intend(
    services: Services, db: Db, call: Claimed, now: datetime, hold: CallLease
) -> Intent:
    """Hold a locked call, and note that it is about to be dialled."""
    account = await unseal(
        services.vault, db, call.business_id, call.number_id, call.settings_sealed
    )
    attempt_id = new_id()
    await store.update_dialing(db, call, attempt_id, now, hold.until, now + hold.pace)
    return Intent(
        call=call,
        attempt_id=attempt_id,
        attempt=call.attempt + 1,
        generation=call.generation + 1,
        account=account,
        begun_at=now,
        pace=hold.pace,
    )


async def end_call(db: Db, call: Claimed, over: rules.Over, now: datetime) -> None:
    """End a call that no conversation here was held on, and tell of it."""
    lasted = now - call.answered_at if call.answered_at else timedelta()
    end = CallEnd(
        status=over.status,
        ended_reason=over.reason,
        ended_by=over.ended_by,
        duration_seconds=round(lasted.total_seconds()),
    )
    await update_ended(db, call.key, end, now)
    await tell_end(db, call, end, None, now)
