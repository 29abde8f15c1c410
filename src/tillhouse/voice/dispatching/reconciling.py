"""Ends calls whose lease expired: never by dialling them again."""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta

import structlog

from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.kit.partial import facts_of
from tillhouse.providers.telephony.provider import (
    Clock,
    Dial,
    LineEnded,
    ProviderName,
    Telephone,
)
from tillhouse.voice.dispatching import rules
from tillhouse.voice.dispatching.claiming import LEASE, end_call
from tillhouse.voice.dispatching.store import handling as store
from tillhouse.voice.dispatching.store import leases
from tillhouse.voice.dispatching.store.claiming import Claimed
from tillhouse.voice.dispatching.store.handling import AttemptEnd
from tillhouse.voice.numbers.actions import unseal

# A provider that says nothing in so long knows nothing.
ASKED_WITHIN_S = 5.0
_NOTHING_KNOWN = AttemptEnd(
    result="outcome_unknown", ended_by="system", sip_status=None, detail="its worker has gone"
)

log = structlog.get_logger()


async def end_expired(services: Services, now: datetime) -> bool:
    """End a call that waited too long; whether there was one."""
    async with services.pool.transaction() as db:
        call = await leases.lock_expired(db, now)
        if call is None:
            return False
        over = rules.Over(status="failed", reason="expired", ended_by="system")
        await end_call(db, call, over, now)
    return True


async def reconcile(
    services: Services, telephones: Mapping[ProviderName, Telephone], clock: Clock
) -> bool:
    """Find out the end of a call whose worker has gone, and write it; whether there was one."""
    now = clock.now()
    async with services.pool.transaction() as db:
        call = await leases.lock_lapsed(db, now)
        if call is None:
            return False
        if call.status == "cancelled":
            await _free(db, call, now)
            return True
        await leases.take_lease(db, call.key, now + LEASE)
        attempt_id = await leases.find_attempt_id(db, call.key, call.attempt)
        account = await unseal(
            services.vault, db, call.business_id, call.number_id, call.settings_sealed
        )
    ended = None
    telephone = telephones.get(call.provider)  # pyright: ignore[reportArgumentType]
    if telephone is not None and attempt_id is not None:
        dial = Dial(
            attempt_id=attempt_id,
            attempt=call.attempt,
            to=call.customer_phone,
            from_number=call.phone_number,
            ring_within=timedelta(seconds=call.ring_timeout_s),
            talk_within=timedelta(seconds=call.max_duration_s),
            account=account,
            clock=clock,
        )
        ended = await _ask(telephone, dial)
    async with services.pool.transaction() as db:
        state = await store.lock_held(db, call.key, call.generation + 1)
        if state is not None and state["status"] == "cancelled":
            await _free(db, call, now)
        elif state is not None:
            await _write(db, call, ended, clock.now())
    return True


async def _free(db: Db, call: Claimed, now: datetime) -> None:
    """Free the slot of a call that was cancelled, and whose worker has gone."""
    await store.end_attempt(db, call.key, call.attempt, _NOTHING_KNOWN, now)
    await store.end_lease(db, call.key)


async def _ask(telephone: Telephone, dial: Dial) -> LineEnded | None:
    try:
        async with asyncio.timeout(ASKED_WITHIN_S):
            return await telephone.find_outcome(dial)
    except Exception as error:  # noqa: BLE001 - the outcome stays unknown
        log.warning("voice_outcome_not_found", error=type(error).__name__)
        return None


async def _write(db: Db, call: Claimed, ended: LineEnded | None, now: datetime) -> None:
    end, over = _NOTHING_KNOWN, rules.OUTCOME_UNKNOWN
    if ended is not None:
        end = facts_of(AttemptEnd, ended, detail=ended.detail or None)
        made = rules.Attempted(
            attempt=call.attempt,
            max_attempts=call.max_attempts,
            retry_delay=timedelta(seconds=call.retry_delay_s),
            not_after=call.not_after,
            was_answered=call.answered_at is not None,
            is_machine=call.answered_by == "machine",
        )
        match rules.after(made, ended, now):
            case rules.Postponed(until=until, reason=reason):
                await store.end_attempt(db, call.key, call.attempt, end, now)
                await store.update_postponed(db, call.key, until, reason, now)
                return
            case rules.Over() as over:
                pass
    await store.end_attempt(db, call.key, call.attempt, end, now)
    await end_call(db, call, over, now)
