"""From outcomes to rows: the changes of deliveries and endpoints by a batch of results."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tillhouse.kit.clock import iso
from tillhouse.kit.ids import (
    CHANCE,
    AppId,
    BookId,
    BookKey,
    BusinessId,
    DeliveryId,
    EndpointId,
    EventId,
)
from tillhouse.kit.json import encode
from tillhouse.webhooks import rules
from tillhouse.webhooks.sender.attempt import AttemptOutcome
from tillhouse.webhooks.store.queue import AttemptResult, EndpointResult


class DeliveryClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A delivery that this worker holds the lease of."""

    book_id: BookId
    delivery_id: DeliveryId
    endpoint_id: EndpointId
    event_id: EventId
    business_id: BusinessId
    developer_app_id: AppId
    attempt: int
    generation: int
    url: str
    type: str
    payload: str
    secret_sealed: bytes
    is_probe: bool
    # Its endpoint's last attempt was no success, or takes long.
    is_unproven: bool


class Result(msgspec.Struct, frozen=True):
    """A claim and its result."""

    claim: DeliveryClaim
    outcome: AttemptOutcome
    began_at: datetime
    ended_at: datetime


class Retries(msgspec.Struct, frozen=True):
    """The schedule, as set."""

    base_s: float
    factor: float


def done(result: Result, retries: Retries) -> AttemptResult:
    """The delivery's row."""
    claim, outcome = result.claim, result.outcome
    retry_at = None
    if not outcome.is_delivered:
        retry_at = rules.retry_at(
            claim.attempt,
            result.ended_at,
            retries.base_s,
            retries.factor,
            CHANCE.random(),
            outcome.retry_after_s,
        )
    return AttemptResult(
        book_id=claim.book_id,
        delivery_id=claim.delivery_id,
        generation=claim.generation,
        url=claim.url,
        is_delivered=outcome.is_delivered,
        response_status=outcome.response_status,
        latency_ms=outcome.latency_ms,
        error=outcome.error,
        entry=_entry(result),
        retry_at=retry_at,
        at=result.ended_at,
    )


def _entry(result: Result) -> str:
    """The entry of one attempt in the attempts log."""
    outcome = result.outcome
    return encode(
        {
            "attempt": result.claim.attempt,
            "at": iso(result.began_at),
            "url": result.claim.url,
            "address": outcome.address,
            "responseStatus": outcome.response_status,
            "latencyMs": outcome.latency_ms,
            "phasesMs": outcome.phases,
            "error": outcome.error,
            "response": outcome.response,
        }
    ).decode()


def one_each(results: Sequence[Result]) -> tuple[list[Result], list[Result]]:
    """The first result of each delivery, and the rest: no statement writes a row twice.

    A resend while an attempt is under way brings two results of one delivery close together.
    """
    first: dict[BookKey, Result] = {}
    rest: list[Result] = []
    for result in results:
        key = BookKey(result.claim.book_id, result.claim.delivery_id)
        if first.setdefault(key, result) is not result:
            rest.append(result)
    return list(first.values()), rest


def endpoint_results(results: Sequence[Result]) -> list[EndpointResult]:
    """The result of the batch for each endpoint, in the order in which attempts ended."""
    by_endpoint: dict[BookKey, list[Result]] = {}
    for result in sorted(results, key=lambda r: r.ended_at):
        key = BookKey(result.claim.book_id, result.claim.endpoint_id)
        by_endpoint.setdefault(key, []).append(result)
    return [_result(key, by_endpoint[key]) for key in sorted(by_endpoint)]


def last_errors(results: Sequence[Result]) -> dict[EndpointId, str]:
    """The latest failure of each endpoint that had one."""
    return {
        result.claim.endpoint_id: result.outcome.error
        for result in sorted(results, key=lambda r: r.ended_at)
        if result.outcome.error is not None
    }


def _result(key: BookKey, results: Sequence[Result]) -> EndpointResult:
    failures = 0
    last_delivered_at: datetime | None = None
    for result in results:
        failures = 0 if result.outcome.is_delivered else failures + 1
        if result.outcome.is_delivered:
            last_delivered_at = result.ended_at
    return EndpointResult(
        book_id=key.book_id,
        endpoint_id=EndpointId(key.id),
        had_success=last_delivered_at is not None,
        had_probe=any(result.claim.is_probe for result in results),
        failures_after=failures,
        last_status="delivered" if results[-1].outcome.is_delivered else "failed",
        last_delivered_at=last_delivered_at,
    )
