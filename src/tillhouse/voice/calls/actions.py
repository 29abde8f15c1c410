"""Calls: place, list, show, cancel, and their transcripts."""

from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.customers.rules import plain_words, word_query
from tillhouse.http.route import Reply
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, KeyReused, Missing, check, existing
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.page import PageOf, meta
from tillhouse.kit.partial import given
from tillhouse.stores.store import find_clock
from tillhouse.voice.calls import rules
from tillhouse.voice.calls.store import counting, placing, reading, searching
from tillhouse.voice.calls.types import (
    CallAttempt,
    CalledCustomer,
    CalledFrom,
    CallFilter,
    CallingAgent,
    CallOutcome,
    NewCall,
    Recording,
    Transcript,
    Turn,
    VoiceCall,
)
from tillhouse.voice.limits.rules import DayIsFull, bound
from tillhouse.voice.recordings import pages


class CallNotRecorded(Missing, message="This call has no recording, or not any more."):
    """Not answered, not recorded, not ready, or older than recordings are kept."""


async def place(call: Call, new: NewCall) -> Reply[VoiceCall]:
    """Put a call into the queue; one key, one call, for ever."""
    found = await placing.find_facts(call.db, call.book.id, _named(call, new))
    claim = call.claim
    if claim is not None and found["earlier_id"] is not None:
        if found["earlier_fingerprint"] != claim.fingerprint:
            raise KeyReused
        return Reply(await show(call, found["earlier_id"]), is_replay=True)
    facts = _facts(found)
    check(rules.new_faults(new, facts, call.now))
    assert facts.provider is not None, "the rules refuse a call from nowhere"  # noqa: S101
    times = rules.times(new, call.now)
    row = placing.CallRow(
        queue_reason="scheduled" if times.scheduled_for else None,
        due_at=times.due_at,
        not_after=times.not_after,
        scheduled_for=times.scheduled_for,
        number_id=new.business_voice_number_id,
        agent_id=new.ai_agent_id,
        provider=facts.provider,
        customer_id=facts.customer_id,
        customer_name=new.customer_name or facts.customer_name,
        customer_phone=new.customer_phone,
        order_id=new.order_id,
        reservation_id=new.reservation_id,
        purpose=new.purpose,
        context=new.context or None,
        metadata=msgspec.json.encode(new.metadata).decode(),
        max_attempts=new.max_attempts or facts.agent_max_attempts or 1,
        idempotency_key=claim.key if claim else None,
        idempotency_fingerprint=claim.fingerprint if claim else None,
    )
    key = BookKey(call.book.id, new_id())
    calls_max = bound(facts.calls_per_day, call.services.settings.calls_per_day_max)
    if not await placing.insert_call(call.db, key, row, calls_max, call.now):
        raise DayIsFull(calls_max)
    return Reply(await show(call, key.id))


async def new_faults(call: Call, new: NewCall) -> list[FieldError]:
    """The faults of a new call."""
    found = await placing.find_facts(call.db, call.book.id, _named(call, new))
    return rules.new_faults(new, _facts(found), call.now)


def _named(call: Call, new: NewCall) -> placing.CallNames:
    return placing.CallNames(
        number_id=given(new, "business_voice_number_id"),
        agent_id=given(new, "ai_agent_id"),
        phone=given(new, "customer_phone"),
        order_id=given(new, "order_id"),
        reservation_id=given(new, "reservation_id"),
        own_key=call.claim.key if call.claim else None,
    )


def _facts(row: Record) -> rules.CallFacts:
    return rules.CallFacts(**{name: row[name] for name in rules.CallFacts.__struct_fields__})


async def list_page(call: Call, wanted: CallFilter) -> PageOf[VoiceCall]:
    """One page of the calls that fit, the newest first."""
    page = wanted.pick()
    if wanted.direction == "inbound":
        # No number answers calls.
        return PageOf([], meta(page, 0))
    query = await _query(call, wanted)
    if query.words is not None:
        ids = await searching.CALL_SEARCH.find(call.db, call.book.id, query)
        shown = ids[page.offset : page.offset + page.per_page]
        rows = await searching.list_found(call.db, call.book.id, shown) if shown else []
        return PageOf([_shown(call, row) for row in rows], meta(page, len(ids)))
    count = counting.count_tallied if query.is_tallied else counting.count_found
    total = await count(call.db, call.book.id, query)
    if page.offset >= total:
        return PageOf([], meta(page, total))
    if query.statuses and len(query.statuses) > 1:
        rows = await reading.list_calls_of_statuses(call.db, call.book.id, query, page)
    else:
        rows = await reading.list_calls(call.db, call.book.id, query, page, total)
    return PageOf([_shown(call, row) for row in rows], meta(page, total))


async def _query(call: Call, wanted: CallFilter) -> reading.CallQuery:
    since = until = None
    if wanted.start_date or wanted.end_date:
        clock = await find_clock(call, None)
        since, until = clock.between(wanted.start_date, wanted.end_date)
    return reading.CallQuery(
        statuses=sorted(set(wanted.status)) if wanted.status else None,
        agent_id=wanted.ai_agent_id,
        number_id=wanted.business_voice_number_id,
        ended_reason=wanted.ended_reason,
        since=since,
        until=until,
        phone=wanted.customer_phone,
        customer_id=wanted.customer_id,
        words=word_query(wanted.search) or None if wanted.search else None,
        letters=plain_words(wanted.search) if wanted.search else (),
    )


async def show(call: Call, call_id: UUID) -> VoiceCall:
    """One call."""
    return _shown(call, existing(await reading.show_call(call.db, call.book.id, call_id)))


async def cancel(call: Call, call_id: UUID) -> VoiceCall:
    """End an unanswered call; cancelling twice is cancelling once."""
    status = existing(await placing.lock_status(call.db, call.book.id, call_id))
    if status == "in_progress":
        raise rules.AlreadyAnswered
    if status in rules.UNANSWERED:
        await placing.update_cancelled(call.db, BookKey(call.book.id, call_id), call.now)
    elif status != "cancelled":
        raise rules.AlreadyEnded
    return await show(call, call_id)


async def hang_up(call: Call, call_id: UUID) -> VoiceCall:
    """End a call: one that was answered within a second or two, another one at once."""
    status = existing(await placing.lock_status(call.db, call.book.id, call_id))
    key = BookKey(call.book.id, call_id)
    if status == "in_progress":
        await placing.update_hang_up(call.db, key, call.now)
    elif status in rules.UNANSWERED:
        await placing.update_cancelled(call.db, key, call.now)
    elif status != "cancelled":
        raise rules.AlreadyEnded
    return await show(call, call_id)


async def show_recording(call: Call, call_id: UUID) -> Recording:
    """The recording of a call, with an address that is good for a day."""
    row = existing(await reading.find_recording(call.db, call.book.id, call_id))
    if row["recording_status"] != "ready":
        raise CallNotRecorded
    return Recording(
        call_id=call_id,
        url=pages.url_of(call.services, BookKey(call.book.id, call_id), call.now),
        expires_at=iso(call.now + pages.VALID_FOR),
        content_type="audio/wav",
        duration_seconds=row["duration_ms"] / 1000,
        size_bytes=row["size_bytes"],
        ready_at=iso(row["ready_at"]),
    )


async def show_transcript(call: Call, call_id: UUID) -> Transcript:
    """Everything that was said and done in a call, as far as it is."""
    rows = existing(await reading.list_turns(call.db, call.book.id, call_id))
    return Transcript(call_id=call_id, turns=[Turn(**row) for row in rows])


_PARTS = {"customer", "voice_number", "agent", "attempts", "outcome", "metadata", "recording_url"}


def _shown(call: Call, row: Record) -> VoiceCall:
    names = set(VoiceCall.__struct_fields__) - _PARTS
    outcome = None
    if row["outcome_code"] is not None:
        data = msgspec.json.decode(row["outcome"] or "{}", type=dict[str, str])
        outcome = CallOutcome(code=row["outcome_code"], data=data)
    url = None
    if row["recording_status"] == "ready":
        url = pages.url_of(call.services, BookKey(call.book.id, row["id"]), call.now)
    return VoiceCall(
        **{name: row[name] for name in names},
        customer=CalledCustomer(
            id=row["customer_id"], name=row["customer_name"], phone_number=row["customer_phone"]
        ),
        voice_number=CalledFrom(id=row["number_id"], phone_number=row["phone_number"]),
        agent=CallingAgent(id=row["agent_id"], name=row["agent_name"]),
        attempts=msgspec.json.decode(row["attempts"], type=list[CallAttempt]),
        outcome=outcome,
        metadata=msgspec.json.decode(row["metadata"], type=dict[str, str]),
        recording_url=url,
    )
