"""Sending refunds back through providers: at most once, whatever breaks.

The refund is kept with a hold on the wallet and a job. The worker marks it as being asked for and
commits; then it asks the provider, by a reference that comes from the refund's id; then it records
the answer. No answer, or a worker that died, leaves a refund that may have gone back: from then on
the provider is only asked how it ended, after 5 minutes, an hour, and each day. One that it still
doesn't know after an hour is asked for again by the same reference; where it refuses that and
knows of none, the refund failed.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias

import msgspec

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Again, Job, Kind, LocalKind, NewJob, OutsideKind, Retry
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.ids import OrderId
from tillhouse.orders.returning import outcome
from tillhouse.orders.returning.actions import RETURN
from tillhouse.orders.returning.rules import reference_of, refund_id_of
from tillhouse.orders.returning.store import Sent, list_heard, lock_return, update_asked
from tillhouse.payins.connections import NoProvider, find_provider
from tillhouse.payins.hooks import HEARD_REFUND, HeardReturn
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
from tillhouse.providers.payments.provider import HeardRefund, RefundRequest, SeenRefund

LOOK, HEARD = "refund_look", "refund_heard"
_REASON = "Refund"


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """A refund whose provider is asked: to give back, or how it ended."""

    connection: Connection | None
    wanted: RefundRequest
    known: HeardRefund
    # Whether an earlier call may have been executed: then the provider is asked how it ended.
    is_unclear: bool
    # Whether one that the provider doesn't know may be asked for again.
    may_resend: bool
    order_id: OrderId


Came: TypeAlias = SeenRefund | Nothing
# The connection of a book by a provider's name; raises NoProvider.
Finds: TypeAlias = Callable[[Services, Db, Book, str], Awaitable[Connection]]
FindsHere: TypeAlias = Callable[[Db, Book, str], Awaitable[Connection]]
Begins: TypeAlias = Callable[[Db, Job], Awaitable[Ask | None]]
Records: TypeAlias = Callable[[Services, Db, Job, Ask, Came], Awaitable[Again | None]]


def kinds(services: Services, finds: Finds = find_provider) -> tuple[Kind, ...]:
    """The jobs that send a refund, look what became of it, and follow a provider's hint."""
    look_up = partial(finds, services)
    return (
        _asking(services, RETURN, partial(_begin_sending, look_up), _record_sending, SENDING),
        _asking(services, LOOK, partial(_begin_looking, look_up), _record_look, LOOKING),
        _asking(services, HEARD, partial(_begin_hearing, look_up), _record_heard, HEARING),
        LocalKind(name=HEARD_REFUND, run=_hear),
    )


def _asking(
    services: Services, name: str, begin: Begins, record: Records, retry: Retry
) -> OutsideKind:
    return OutsideKind(
        name=name,
        begin=begin,
        run=_ask,
        record=partial(record, services),
        record_late=partial(_record_late, services),
        retry=retry,
        lease=LEASE,
    )


async def _hear(db: Db, job: Job) -> bool:
    """Let the provider be asked about each refund that it may have told of."""
    told = msgspec.json.decode(job.payload or b"{}", type=HeardReturn)
    found = await list_heard(db, job.book_id, told, refund_id_of(told.reference))
    at = now()
    for refund_id in found:
        key = f"{job.subject_id}:{job.key}"
        new = NewJob(book_id=job.book_id, kind=HEARD, subject_id=refund_id, key=key)
        await queue_job(db, new, at, at)
    return False


async def _begin_sending(finds: FindsHere, db: Db, job: Job) -> Ask | None:
    sent = await lock_return(db, job.book_id, job.subject_id)
    if sent is None or sent.status != "pending":
        return None
    if sent.is_unclear:
        return await _look(finds, db, sent)
    await update_asked(db, sent, now(), is_unclear=True)
    return await _ask_for(finds, db, sent, is_unclear=False, may_resend=False)


async def _begin_looking(finds: FindsHere, db: Db, job: Job) -> Ask | None:
    sent = await lock_return(db, job.book_id, job.subject_id)
    if sent is None or sent.status != "pending":
        return None
    return await _look(finds, db, sent)


async def _begin_hearing(finds: FindsHere, db: Db, job: Job) -> Ask | None:
    """A hint is only a reason to ask; also one about a refund that had ended."""
    sent = await lock_return(db, job.book_id, job.subject_id)
    if sent is None or sent.asked_at is None:
        return None
    return await _ask_for(finds, db, sent, is_unclear=True, may_resend=False)


async def _look(finds: FindsHere, db: Db, sent: Sent) -> Ask:
    may_resend = is_settled(sent.asked_at, now())
    return await _ask_for(finds, db, sent, is_unclear=True, may_resend=may_resend)


async def _ask_for(
    finds: FindsHere, db: Db, sent: Sent, *, is_unclear: bool, may_resend: bool
) -> Ask:
    try:
        connection = await finds(db, sent.book, sent.provider)
    except NoProvider:
        connection = None
    reference = reference_of(sent.id)
    wanted = RefundRequest(
        reference=reference,
        transaction_id=sent.provider_transaction_id,
        amount=sent.amount,
        currency=sent.currency,
        reason=sent.reason or _REASON,
        since=sent.created_at,
    )
    known = HeardRefund(
        reference,
        sent.provider_refund_id,
        sent.provider_transaction_id,
        sent.payment_reference,
        sent.created_at,
    )
    return Ask(
        connection=connection,
        wanted=wanted,
        known=known,
        is_unclear=is_unclear,
        may_resend=may_resend,
        order_id=sent.order_id,
    )


async def _ask(wanted: Ask) -> Came:
    if wanted.connection is None:
        return Nothing(not wanted.is_unclear, "the payment provider is not connected")
    provider, credentials = wanted.connection.provider, wanted.connection.credentials
    calls = Outgoing(
        reference=wanted.wanted.reference,
        send=partial(provider.refund, credentials, wanted.wanted),
        find=partial(provider.find_refund, credentials, wanted.known),
        failed=partial(_failed, wanted.wanted.reference),
    )
    return await ask(calls, is_unclear=wanted.is_unclear, may_resend=wanted.may_resend)


def _failed(reference: str, reason: str) -> SeenRefund:
    return SeenRefund(reference=reference, provider_reference=None, state="failed", reason=reason)


async def _record_sending(
    services: Services, db: Db, job: Job, ask: Ask, came: Came
) -> Again | None:
    sent = await _apply(services, db, job, ask, came)
    if sent is None:
        return None
    if isinstance(came, Nothing) and came.is_certain:
        await update_asked(db, sent, None, is_unclear=False)
        return Again(came.reason)
    is_open = isinstance(came, Nothing) or came.state == "pending"
    if sent.status == "pending" and is_open:
        look = NewJob(book_id=sent.book_id, kind=LOOK, subject_id=sent.id)
        await queue_job(db, look, now() + FIRST_LOOK, now())
    return None


async def _record_look(services: Services, db: Db, job: Job, ask: Ask, came: Came) -> Again | None:
    sent = await _apply(services, db, job, ask, came)
    if sent is None:
        return None
    if isinstance(came, Nothing):
        if ask.may_resend:
            await update_asked(db, sent, now(), is_unclear=True)
        return Again(came.reason)
    return Again("pending") if came.state == "pending" else None


async def _record_heard(services: Services, db: Db, job: Job, ask: Ask, came: Came) -> Again | None:
    if isinstance(came, Nothing):
        return Again(came.reason)
    await _apply(services, db, job, ask, came)
    return None


async def _record_late(services: Services, db: Db, job: Job, ask: Ask, came: Came) -> None:
    """The end of a refund counts whenever it is heard."""
    await _apply(services, db, job, ask, came)


async def _apply(services: Services, db: Db, job: Job, ask: Ask, came: Came) -> Sent | None:
    """Bring the refund to what was said; the refund as it was before."""
    seen = came if isinstance(came, SeenRefund) else None
    which = outcome.Which(job.book_id, job.subject_id, ask.order_id)
    return await outcome.apply(services, db, which, seen)
