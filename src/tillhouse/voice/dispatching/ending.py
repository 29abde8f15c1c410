"""The events of calls: told in the transaction that makes them true, each once."""

from datetime import datetime

from tillhouse.access.callers import Book
from tillhouse.db.pool import Db
from tillhouse.voice.dispatching.store.claiming import Claimed
from tillhouse.voice.dispatching.store.handling import CallEnd
from tillhouse.voice.events import (
    VOICE_CALL_COMPLETED,
    VOICE_CALL_FAILED,
    VOICE_CALL_STARTED,
    VOICE_RECORDING_READY,
    CallData,
)
from tillhouse.webhooks.emit import Event, Source, emit_all_from


async def tell_start(db: Db, call: Claimed, now: datetime) -> None:
    """Somebody has answered."""
    data = _data(call, "in_progress", 0, None)
    await emit_all_from(db, _source(call), [(VOICE_CALL_STARTED, data)], now)


async def tell_end(
    db: Db, call: Claimed, end: CallEnd, recording_url: str | None, now: datetime
) -> None:
    """The call has ended, and its recording, if there is one, can be fetched."""
    data = _data(call, end.status, end.duration_seconds, recording_url)
    kind = VOICE_CALL_COMPLETED if end.status == "completed" else VOICE_CALL_FAILED
    events: list[Event] = [(kind, data)]
    if recording_url is not None:
        events.append((VOICE_RECORDING_READY, data))
    await emit_all_from(db, _source(call), events, now)


def _source(call: Claimed) -> Source:
    # Of no app: everybody who wants it hears how a call went.
    return Source(call.business_id, Book(call.book_id, call.environment))


def _data(call: Claimed, status: str, seconds: int, recording_url: str | None) -> CallData:
    return CallData(
        call_id=call.id,
        status=status,
        direction="outbound",
        duration_seconds=seconds,
        recording_url=recording_url,
    )
