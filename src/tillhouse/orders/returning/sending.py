"""Sending refunds back through providers: at most once, whatever breaks.

The refund is kept with a hold on the wallet and a job. The worker marks it as being asked for and
commits; then it asks the provider, by a reference that comes from the refund's id; then it records
the answer. No answer, or a worker that died, leaves a refund that may have gone back: from then on
the provider is only asked how it ended, after 5 minutes, an hour, and each day. One that it still
doesn't know after an hour is asked for again by the same reference; where it refuses that and
knows of none, the refund failed.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import TypeAlias

import msgspec

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, Kind, LocalKind, NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.orders.returning import outcome
from tillhouse.orders.returning.actions import RETURN
from tillhouse.orders.returning.rules import reference_of, refund_id_of
from tillhouse.orders.returning.store import Sent, list_heard, lock_return, update_asked
from tillhouse.payins.connections import NoProvider, find_provider
from tillhouse.payins.hooks import HEARD_REFUND, HeardReturn
from tillhouse.payins.outgoing import Ask, Nothing, Outgoing, OutgoingSteps, is_settled
from tillhouse.payins.types import Connection
from tillhouse.providers.payments.provider import HeardRefund, RefundRequest, SeenRefund

LOOK, HEARD = "refund_look", "refund_heard"
_REASON = "Refund"

Asked: TypeAlias = Ask[Sent, SeenRefund]
# The connection of a book by a provider's name; raises NoProvider.
Finds: TypeAlias = Callable[[Services, Db, Book, str], Awaitable[Connection]]
FindsHere: TypeAlias = Callable[[Db, Book, str], Awaitable[Connection]]


def kinds(services: Services, finds: Finds = find_provider) -> tuple[Kind, ...]:
    """The jobs that send a refund, look what became of it, and follow a provider's hint."""
    look_up = partial(finds, services)
    steps = OutgoingSteps(
        sends=RETURN,
        looks=LOOK,
        hears=HEARD,
        begin_sending=partial(_begin_sending, look_up),
        begin_looking=partial(_begin_looking, look_up),
        begin_hearing=partial(_begin_hearing, look_up),
        mark=_mark,
        apply=partial(_apply, services),
        is_under_way=lambda sent: sent.status == "pending",
        is_open=lambda seen: seen.state == "pending",
    )
    return (*steps.kinds(), LocalKind(name=HEARD_REFUND, run=_hear))


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


async def _begin_sending(finds: FindsHere, db: Db, job: Job) -> Asked | None:
    sent = await lock_return(db, job.book_id, job.subject_id)
    if sent is None or sent.status != "pending":
        return None
    if sent.is_unclear:
        return await _look(finds, db, sent)
    return await _ask_for(finds, db, sent, is_unclear=False)


async def _begin_looking(finds: FindsHere, db: Db, job: Job) -> Asked | None:
    sent = await lock_return(db, job.book_id, job.subject_id)
    if sent is None or sent.status != "pending":
        return None
    return await _look(finds, db, sent)


async def _begin_hearing(finds: FindsHere, db: Db, job: Job) -> Asked | None:
    """A hint is only a reason to ask; also one about a refund that had ended."""
    sent = await lock_return(db, job.book_id, job.subject_id)
    if sent is None or sent.asked_at is None:
        return None
    return await _ask_for(finds, db, sent, is_unclear=True)


async def _look(finds: FindsHere, db: Db, sent: Sent) -> Asked:
    may_resend = is_settled(sent.asked_at, now())
    return await _ask_for(finds, db, sent, is_unclear=True, may_resend=may_resend)


async def _ask_for(
    finds: FindsHere, db: Db, sent: Sent, *, is_unclear: bool, may_resend: bool = False
) -> Asked:
    try:
        calls = _calls(sent, await finds(db, sent.book, sent.provider))
    except NoProvider:
        calls = None
    return Ask(row=sent, calls=calls, is_unclear=is_unclear, may_resend=may_resend)


def _calls(sent: Sent, connection: Connection) -> Outgoing[SeenRefund]:
    reference, credentials = reference_of(sent.id), connection.credentials
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
    return Outgoing(
        reference=reference,
        send=partial(connection.provider.refund, credentials, wanted),
        find=partial(connection.provider.find_refund, credentials, known),
        failed=partial(_failed, reference),
    )


def _failed(reference: str, reason: str) -> SeenRefund:
    return SeenRefund(reference=reference, provider_reference=None, state="failed", reason=reason)


async def _mark(db: Db, sent: Sent, asked_at: datetime | None) -> None:
    await update_asked(db, sent, asked_at, is_unclear=asked_at is not None)


async def _apply(services: Services, db: Db, sent: Sent, came: SeenRefund | Nothing) -> Sent | None:
    seen = None if isinstance(came, Nothing) else came
    which = outcome.Which(sent.book_id, sent.id, sent.order_id)
    return await outcome.apply(services, db, which, seen)
