"""Money that goes out by a provider: sent at most once, and from then on only asked about.

Its room keeps it with a job that sends it, and gives the steps that are its own: to begin, and to
bring it to the told state. The rest is the same for all: the steps after an answer, or none.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Generic, Protocol, TypeAlias, TypeVar
from uuid import UUID

import msgspec
import structlog

from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Again, Job, NewJob, OutsideKind, Retry
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId, new_id
from tillhouse.kit.text import storable
from tillhouse.providers.payments.provider import NotReached, ProviderRefused, Unknown, in_words


class OutgoingRow(Protocol):
    """One as its room keeps it, in a state."""

    @property
    def book_id(self) -> BookId: ...  # noqa: D102

    @property
    def id(self) -> UUID: ...  # noqa: D102

    @property
    def status(self) -> str: ...  # noqa: D102

    # The mark of the account that was asked for it last; None: of none yet, or not known.
    @property
    def asked_with(self) -> bytes | None: ...  # noqa: D102


# The answer of a provider about it.
Seen = TypeVar("Seen")
Row = TypeVar("Row", bound=OutgoingRow)
# The first look at one that has not ended; the next is an hour later, then one each day, for more
# than a year.
FIRST_LOOK = timedelta(minutes=5)
LOOKING = Retry(attempts_max=400, base=timedelta(hours=1), factor=24, most=timedelta(days=1))
SENDING = Retry(attempts_max=1000, base=timedelta(seconds=10), most=timedelta(minutes=15))
HEARING = Retry(attempts_max=20, base=timedelta(seconds=10))
LEASE = timedelta(seconds=90)
# A call that was cut off is executed within this time or never.
SETTLED_AFTER = timedelta(hours=1)
_REASON_LENGTH_MAX = 300

log = structlog.get_logger()


class Nothing(msgspec.Struct, frozen=True):
    """No outcome: whether it is certain that nothing was executed, and why."""

    is_certain: bool
    reason: str


class OutgoingCalls(msgspec.Struct, Generic[Seen], frozen=True, kw_only=True):
    """The calls of a provider about one payout or refund."""

    reference: str
    # The marks of the account that is asked, of which the call leaves the first.
    marks: Sequence[bytes]
    send: Callable[[], Awaitable[Seen]]
    find: Callable[[], Awaitable[Seen]]
    # The outcome of one that it refuses, for this reason.
    failed: Callable[[str], Seen]


class OutgoingWork(msgspec.Struct, Generic[Row, Seen], frozen=True, kw_only=True):
    """One whose provider is asked: to send it, or how it ended."""

    row: Row
    # None: its provider isn't connected.
    calls: OutgoingCalls[Seen] | None
    # Whether an earlier call may have been executed: then the provider is asked how it ended.
    is_unclear: bool
    # Whether one that the provider doesn't know may be sent again.
    may_resend: bool = False

    @property
    def within_account(self) -> "OutgoingWork[Row, Seen]":
        """The same; another account than was asked knows nothing of it, and proves nothing."""
        is_same = self.calls is not None and self.row.asked_with in self.calls.marks
        return self if is_same else msgspec.structs.replace(self, may_resend=False)


class LockedRow(msgspec.Struct, Generic[Row, Seen], frozen=True, kw_only=True):
    """One with all that it moves, locked until the transaction ends."""

    row: Row
    # Whether an answer changes its state.
    changes: Callable[[Seen], bool]
    # Bring it to an answer.
    apply: Callable[[Seen], Awaitable[None]]


Begin: TypeAlias = Callable[[Db, Job], Awaitable[OutgoingWork[Row, Seen] | None]]
Record: TypeAlias = Callable[
    [Db, Job, OutgoingWork[Row, Seen], Seen | Nothing], Awaitable[Again | None]
]


class OutgoingSteps(msgspec.Struct, Generic[Row, Seen], frozen=True, kw_only=True):
    """The names of its jobs, and the steps of its room, each within a transaction."""

    sends: str
    looks: str
    hears: str
    begin_sending: Begin[Row, Seen]
    begin_looking: Begin[Row, Seen]
    begin_hearing: Begin[Row, Seen]
    # It may be executed from this moment on by this account, or (None) was not reached.
    mark: Callable[[Db, Row, datetime | None, bytes | None], Awaitable[None]]
    # Lock the rows that it moves, then it; None where it is gone.
    lock: Callable[[Db, Row], Awaitable[LockedRow[Row, Seen] | None]]
    # The payload of the job that follows a hint about it.
    hint: Callable[[Row], bytes | None]
    is_under_way: Callable[[Row], bool]
    # Whether an answer says no end.
    is_open: Callable[[Seen], bool]

    def kinds(self) -> tuple[OutsideKind, OutsideKind, OutsideKind]:
        """The jobs that send it, look at its fate, and follow a provider's hint."""
        return (
            self._kind(self.sends, self.begin_sending, self._record_sending, SENDING),
            self._kind(self.looks, self.begin_looking, self._record_look, LOOKING),
            self._kind(self.hears, self.begin_hearing, self._record_heard, HEARING),
        )

    def _kind(
        self, name: str, begin: Begin[Row, Seen], record: Record[Row, Seen], retry: Retry
    ) -> OutsideKind:
        return OutsideKind(
            name=name,
            begin=partial(self._begin, begin),
            run=_ask,
            record=record,
            record_late=self._record_late,
            retry=retry,
            lease=LEASE,
        )

    async def _begin(
        self, begin: Begin[Row, Seen], db: Db, job: Job
    ) -> OutgoingWork[Row, Seen] | None:
        """Note, before it is called, that the provider may execute it from now on."""
        found = await begin(db, job)
        if found is None:
            return None
        asked = found.within_account
        if asked.calls is not None and (asked.may_resend or not asked.is_unclear):
            await self.mark(db, asked.row, now(), asked.calls.marks[0])
        return asked

    async def _record_sending(
        self, db: Db, job: Job, asked: OutgoingWork[Row, Seen], came: Seen | Nothing
    ) -> Again | None:
        row = await self._apply(db, asked, came)
        if row is None:
            return None
        if isinstance(came, Nothing) and came.is_certain:
            await self.mark(db, row, None, None)
            return Again(came.reason)
        is_open = isinstance(came, Nothing) or self.is_open(came)
        if is_open and self.is_under_way(row):
            look = NewJob(book_id=job.book_id, kind=self.looks, subject_id=job.subject_id)
            await queue_job(db, look, now() + FIRST_LOOK, now())
        return None

    async def _record_look(
        self, db: Db, _job: Job, asked: OutgoingWork[Row, Seen], came: Seen | Nothing
    ) -> Again | None:
        if await self._apply(db, asked, came) is None:
            return None
        if isinstance(came, Nothing):
            return Again(came.reason)
        return Again("it has not ended") if self.is_open(came) else None

    async def _record_heard(
        self, db: Db, _job: Job, asked: OutgoingWork[Row, Seen], came: Seen | Nothing
    ) -> Again | None:
        if isinstance(came, Nothing):
            return Again(came.reason)
        await self._apply(db, asked, came)
        return None

    async def _record_late(
        self, db: Db, _job: Job, asked: OutgoingWork[Row, Seen], came: Seen | Nothing
    ) -> None:
        """Its end counts whenever it is heard."""
        await self._apply(db, asked, came)

    async def _apply(
        self, db: Db, asked: OutgoingWork[Row, Seen], came: Seen | Nothing
    ) -> Row | None:
        """Bring it to the told state; as it was before that, or None where it is gone.

        Two calls end in any order: an answer that would change an end which was recorded while it
        was on its way may be older than that, so the provider is asked anew.
        """
        locked = await self.lock(db, asked.row)
        if locked is None or isinstance(came, Nothing):
            return None if locked is None else locked.row
        row = locked.row
        has_ended = row.status != asked.row.status and not self.is_under_way(row)
        if has_ended and locked.changes(came):
            key, hint = str(new_id()), self.hint(row)
            job = NewJob(
                book_id=row.book_id, kind=self.hears, subject_id=row.id, key=key, payload=hint
            )
            await queue_job(db, job, now(), now())
        else:
            await locked.apply(came)
        return row


async def _ask(asked: OutgoingWork[Row, Seen]) -> Seen | Nothing:
    if asked.calls is None:
        return Nothing(not asked.is_unclear, "the payment provider is not connected")
    return await ask(asked.calls, is_unclear=asked.is_unclear, may_resend=asked.may_resend)


def is_settled(asked_at: datetime | None, at: datetime) -> bool:
    """Whether a call so long ago was executed or never will be."""
    return at - (asked_at or at) >= SETTLED_AFTER


async def ask(
    outgoing: OutgoingCalls[Seen], *, is_unclear: bool, may_resend: bool
) -> Seen | Nothing:
    """Send it, or ask how it ended where an earlier call may have been executed.

    One that the provider doesn't know is sent again where that is allowed.
    """
    if not is_unclear:
        return await _send(outgoing, is_repeated=False)
    try:
        return await outgoing.find()
    except Unknown:
        if may_resend:
            return await _send(outgoing, is_repeated=True)
        return Nothing(False, "the payment provider doesn't know it yet")
    except Exception as error:  # noqa: BLE001 - a look that failed says nothing
        return Nothing(False, _told(error))


async def _send(outgoing: OutgoingCalls[Seen], *, is_repeated: bool) -> Seen | Nothing:
    try:
        return await outgoing.send()
    except ProviderRefused as refusal:
        refused = outgoing.failed(str(refusal) or "refused")
        return await _look_again(outgoing, refused) if is_repeated else refused
    except NotReached as error:
        return Nothing(not is_repeated, _told(error))
    except Exception as error:  # noqa: BLE001 - it may have been executed
        log.warning("outgoing_unclear", reference=outgoing.reference, error=_told(error))
        return Nothing(False, _told(error))


async def _look_again(outgoing: OutgoingCalls[Seen], refused: Seen) -> Seen | Nothing:
    """A repetition was refused, perhaps since the call before it counts: then it is known now."""
    try:
        return await outgoing.find()
    except Unknown:
        return refused
    except Exception as error:  # noqa: BLE001 - a look that failed says nothing
        return Nothing(False, _told(error))


def _told(error: Exception) -> str:
    return storable(in_words(error))[:_REASON_LENGTH_MAX]
