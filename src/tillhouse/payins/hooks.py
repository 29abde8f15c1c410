"""Events of providers: the signature checked, stored first, looked up and recorded after."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Literal
from uuid import UUID

import msgspec

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.http.exchange import check_counts
from tillhouse.jobs.kinds import Again, Job, NewJob, OutsideKind, Retry
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Missing, Unauthenticated, existing
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.payins.asking import Looked, look_up
from tillhouse.payins.connections import SIGNATURE_HEADERS, NoProvider, find_provider, provider_of
from tillhouse.payins.inbox import store_event_once
from tillhouse.payins.store import events
from tillhouse.payins.store.connections import find_book
from tillhouse.payins.types import Origin, ProviderConnection
from tillhouse.providers.payments.provider import (
    Heard,
    HeardPayment,
    HeardPayout,
    HeardRefund,
)

EVENT = "provider_event"
# Many times the size of any vendor's hook.
CONTAINERS_MAX, VALUES_MAX = 10_000, 50_000
# The job for the room that sends money: the payload is `HeardOutgoing`.
HEARD_PAYOUT = "heard_payout"
# The job for the room that gives payments back: the payload is `HeardReturn`.
HEARD_REFUND = "heard_refund"
# The same for the room of stays: a hook doesn't always name the target.
HEARD_STAY_REFUND = "heard_stay_refund"
# A payment that the provider doesn't show yet, or whose account isn't ours yet, is looked up again.
_MATCHED_WITHIN = 4
_RETRY = Retry(attempts_max=12, base=timedelta(seconds=5))


class PaymentHookNotSigned(Unauthenticated, message="The signature doesn't fit the body."):
    """Somebody else than the provider calls, or with another secret."""


class HeardOutgoing(msgspec.Struct, frozen=True):
    """A hook told of money that leaves: by which provider, and by our reference."""

    provider: str
    kind: Literal["payout"]
    reference: str | None


class HeardReturn(msgspec.Struct, frozen=True):
    """A hook told of a refund: by which provider, and by whichever references it gave."""

    provider: str
    reference: str | None = None
    provider_reference: str | None = None
    transaction_id: str | None = None
    payment_reference: str | None = None


async def check(services: Services, provider: str, headers: Mapping[str, str]) -> None:
    """Refuse by the head alone: an unknown provider, no signature."""
    if provider_of(services, provider) is None:
        raise Missing
    if not headers.get(SIGNATURE_HEADERS[provider]):
        raise PaymentHookNotSigned


async def take(
    services: Services, provider: str, book_id: UUID, headers: Mapping[str, str], body: bytes,
    at: datetime,
) -> bool:  # fmt: skip
    """Store a provider's hook of a book, once its signature fits; whether it is new."""
    async with services.pool.reading() as db:
        connection = await _connection(services, db, provider, BookId(book_id))
    if not connection.provider.is_signed(connection.credentials, headers, body):
        raise PaymentHookNotSigned
    check_counts(body, containers_max=CONTAINERS_MAX, values_max=VALUES_MAX)
    async with services.pool.writing_once() as db:
        return await store_event_once(db, book_id, provider, body, at)


async def _connection(
    services: Services, db: Db, provider: str, book_id: BookId
) -> ProviderConnection:
    row = existing(await find_book(db, book_id))
    try:
        return await find_provider(services, db, Book(book_id, row["environment"]), provider)
    except NoProvider:
        raise Missing from None


class _EventToLookUp(msgspec.Struct, frozen=True, kw_only=True):
    """An event, with all that is needed to look it up."""

    origin: Origin
    # None: the provider is no longer connected.
    connection: ProviderConnection | None
    heard: Sequence[Heard]
    attempts: int


def kind(services: Services) -> OutsideKind:
    """The job of one event."""
    return OutsideKind(
        name=EVENT,
        begin=partial(_begin, services),
        run=partial(_look_up, services),
        record=_record,
        give_up=_give_up,
        retry=_RETRY,
    )


async def _begin(services: Services, db: Db, job: Job) -> _EventToLookUp | None:
    row = await events.find_event(db, BookKey(job.book_id, job.subject_id))
    if row is None or row["processed_at"] is not None:
        return None
    book = Book(job.book_id, row["environment"])
    heard: Sequence[Heard] = ()
    connection = None
    try:
        connection = await find_provider(services, db, book, row["provider"])
        heard = [part for one in connection.provider.heard(row["body"]) for part in _parts(one)]
    except (NoProvider, RecursionError):
        # No vendor nests as deep as the decoder's limit: such a body tells of nothing.
        pass
    return _EventToLookUp(
        origin=Origin(row["business_id"], book, row["provider"]),
        connection=connection,
        heard=heard,
        attempts=job.attempts + 1,
    )


def _parts(heard: Heard) -> Sequence[Heard]:
    """A refund that was made at the provider itself is seen in the payment that it gives back."""
    if isinstance(heard, HeardRefund) and (heard.transaction_id or heard.payment_reference):
        back = HeardPayment(heard.payment_reference, heard.transaction_id, may_be_back=True)
        return back, heard
    return (heard,)


async def _look_up(services: Services, ready: _EventToLookUp) -> Looked:
    total = Looked()
    for heard in ready.heard:
        if isinstance(heard, HeardPayment) and ready.connection is not None:
            looked = await look_up(
                services,
                ready.connection,
                ready.origin,
                heard,
                takes_unknown=ready.attempts >= _MATCHED_WITHIN,
            )
            total = Looked(
                total.seen + looked.seen,
                total.new + looked.new,
                total.unmatched + looked.unmatched,
            )
    return total


async def _record(db: Db, job: Job, ready: _EventToLookUp, looked: Looked) -> Again | None:
    payments = [one for one in ready.heard if isinstance(one, HeardPayment)]
    is_unseen = payments and not looked.seen
    if (looked.unmatched or is_unseen) and ready.attempts < _MATCHED_WITHIN:
        return Again("no payment, or no account of ours, fits yet")
    at = now()
    for index, heard in enumerate(ready.heard):
        if isinstance(heard, HeardPayout | HeardRefund):
            await _pass_on(db, job, ready.origin, index, heard, at)
    key = BookKey(job.book_id, job.subject_id)
    await events.update_processed(db, key, _outcome(ready, payments, looked), at)
    return None


def _outcome(ready: _EventToLookUp, payments: Sequence[HeardPayment], looked: Looked) -> str:
    if ready.connection is None:
        return "the provider is no longer connected"
    if not ready.heard:
        return "tells of nothing that is followed"
    if payments and not looked.seen:
        return "the provider knows no such payment"
    if payments:
        return f"payments looked up: {looked.seen}, of them news: {looked.new}"
    return "passed on"


async def _pass_on(
    db: Db, job: Job, origin: Origin, index: int, heard: HeardPayout | HeardRefund, at: datetime
) -> None:
    """Give the room that sent the money a job of its own."""
    if isinstance(heard, HeardPayout):
        kinds, told = (
            (HEARD_PAYOUT,),
            HeardOutgoing(origin.provider, "payout", heard.reference),
        )
    else:
        kinds = (HEARD_REFUND, HEARD_STAY_REFUND)
        told = HeardReturn(
            origin.provider,
            heard.reference,
            heard.provider_reference,
            heard.transaction_id,
            heard.payment_reference,
        )
    for kind in kinds:
        new = NewJob(
            book_id=job.book_id,
            kind=kind,
            subject_id=job.subject_id,
            key=str(index),
            payload=msgspec.json.encode(told),
        )
        await queue_job(db, new, at, at)


async def _give_up(db: Db, job: Job, reason: str) -> None:
    key = BookKey(job.book_id, job.subject_id)
    await events.update_processed(db, key, f"given up: {reason}", now())
