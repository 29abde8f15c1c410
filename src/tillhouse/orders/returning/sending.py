"""Sending refunds back through providers: at most once, whatever breaks.

The refund is kept with a hold on the wallet and a job. The worker marks it as being asked for and
commits; then it asks the provider, by a reference that comes from the refund's id; then it records
the answer. No answer, or a worker that died, leaves a refund that may have gone back: from then on
the provider is only asked how it ended, after 5 minutes, an hour, and each day. One that it still
doesn't know after an hour is asked for again by the same reference; where it refuses that and
knows of none, the refund failed.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Generic, TypeAlias, TypeVar
from uuid import UUID

import msgspec

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, Kind, LocalKind, NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId
from tillhouse.orders.returning import outcome
from tillhouse.orders.returning.actions import RETURN
from tillhouse.orders.returning.corrections import HEARD
from tillhouse.orders.returning.rules import reference_of, refund_id_of
from tillhouse.orders.returning.sent import SentRefund
from tillhouse.orders.returning.store import REFUNDS, lock_return
from tillhouse.payins.connections import NoProvider, find_provider
from tillhouse.payins.hooks import HEARD_REFUND, HeardReturn
from tillhouse.payins.outgoing import (
    LockedRow,
    OutgoingCalls,
    OutgoingSteps,
    OutgoingWork,
    is_settled,
)
from tillhouse.payins.types import ProviderConnection
from tillhouse.providers.payments.provider import HeardRefund, RefundRequest, SeenRefund

LOOK = "refund_look"
_REASON = "Refund"

Row = TypeVar("Row", bound=SentRefund)
Asked: TypeAlias = OutgoingWork[Row, SeenRefund]
# The connection of a book by a provider's name; raises NoProvider.
Finds: TypeAlias = Callable[[Services, Db, Book, str], Awaitable[ProviderConnection]]
ListsHeard: TypeAlias = Callable[[Db, BookId, HeardReturn, UUID | None], Awaitable[Sequence[UUID]]]


class RefundJobs(msgspec.Struct, Generic[Row], frozen=True, kw_only=True):
    """The refunds of one room: the names of their jobs, and its own steps."""

    sends: str
    looks: str
    hears: str
    # Lock one; None where there is none through a provider.
    lock: Callable[[Db, BookId, UUID], Awaitable[Row | None]]
    mark: Callable[[Db, Row, datetime | None, bytes | None], Awaitable[None]]
    # Lock one with all that it moves.
    lock_whole: Callable[[Db, Row], Awaitable[LockedRow[Row, SeenRefund] | None]]


class _Steps(Generic[Row]):
    """The beginnings of such jobs."""

    def __init__(self, services: Services, finds: Finds, jobs: RefundJobs[Row]) -> None:
        self._services, self._finds, self._jobs = services, finds, jobs

    async def begin_sending(self, db: Db, job: Job) -> Asked[Row] | None:
        sent = await self._jobs.lock(db, job.book_id, job.subject_id)
        if sent is None or sent.status != "pending":
            return None
        if sent.is_unclear:
            return await self._look(db, sent)
        return await self._ask_for(db, sent, is_unclear=False)

    async def begin_looking(self, db: Db, job: Job) -> Asked[Row] | None:
        sent = await self._jobs.lock(db, job.book_id, job.subject_id)
        if sent is None or sent.status != "pending":
            return None
        return await self._look(db, sent)

    async def begin_hearing(self, db: Db, job: Job) -> Asked[Row] | None:
        """A hint is only a reason to ask; also one about a refund that had ended."""
        sent = await self._jobs.lock(db, job.book_id, job.subject_id)
        if sent is None or sent.asked_at is None:
            return None
        return await self._ask_for(db, sent, is_unclear=True)

    async def _look(self, db: Db, sent: Row) -> Asked[Row]:
        may_resend = is_settled(sent.asked_at, now())
        return await self._ask_for(db, sent, is_unclear=True, may_resend=may_resend)

    async def _ask_for(
        self, db: Db, sent: Row, *, is_unclear: bool, may_resend: bool = False
    ) -> Asked[Row]:
        try:
            calls = _calls(sent, await self._finds(self._services, db, sent.book, sent.provider))
        except NoProvider:
            calls = None
        return OutgoingWork(row=sent, calls=calls, is_unclear=is_unclear, may_resend=may_resend)


def outside_kinds(services: Services, finds: Finds, jobs: RefundJobs[Row]) -> tuple[Kind, ...]:
    """The jobs that send a refund, look at its fate, and follow a provider's hint."""
    steps = _Steps(services, finds, jobs)
    return OutgoingSteps(
        sends=jobs.sends,
        looks=jobs.looks,
        hears=jobs.hears,
        begin_sending=steps.begin_sending,
        begin_looking=steps.begin_looking,
        begin_hearing=steps.begin_hearing,
        mark=jobs.mark,
        lock=jobs.lock_whole,
        hint=lambda _sent: None,
        is_under_way=lambda sent: sent.status == "pending",
        is_open=lambda seen: seen.state == "pending",
    ).kinds()


def kinds(services: Services, finds: Finds = find_provider) -> tuple[Kind, ...]:
    """The jobs of refunds of orders."""
    jobs = RefundJobs(
        sends=RETURN,
        looks=LOOK,
        hears=HEARD,
        lock=lock_return,
        mark=REFUNDS.update_asked,
        lock_whole=partial(outcome.lock, services),
    )
    hears = LocalKind(name=HEARD_REFUND, run=partial(hear, REFUNDS.list_heard, HEARD))
    return (*outside_kinds(services, finds, jobs), hears)


async def hear(list_heard: ListsHeard, kind: str, db: Db, job: Job) -> bool:
    """Let the provider be asked about each refund that it may have told of, by this kind of job."""
    told = msgspec.json.decode(job.payload or b"{}", type=HeardReturn)
    found = await list_heard(db, job.book_id, told, refund_id_of(told.reference))
    at, key = now(), f"{job.subject_id}:{job.key}"
    for refund_id in found:
        new = NewJob(book_id=job.book_id, kind=kind, subject_id=refund_id, key=key)
        await queue_job(db, new, at, at)
    return False


def _calls(sent: SentRefund, connection: ProviderConnection) -> OutgoingCalls[SeenRefund]:
    reference, credentials = reference_of(sent.id), connection.credentials
    wanted = RefundRequest(
        reference=reference,
        transaction_id=sent.transaction,
        amount=sent.amount,
        currency=sent.currency,
        reason=sent.reason or _REASON,
        since=sent.created_at,
    )
    known = HeardRefund(
        reference,
        sent.provider_refund_id,
        sent.transaction,
        sent.payment_reference,
        sent.created_at,
    )
    return OutgoingCalls(
        reference=reference,
        marks=connection.marks,
        send=partial(connection.provider.refund, credentials, wanted),
        find=partial(connection.provider.find_refund, credentials, known),
        failed=partial(_failed, reference),
    )


def _failed(reference: str, reason: str) -> SeenRefund:
    return SeenRefund(reference=reference, provider_reference=None, state="failed", reason=reason)
