"""One attempt: a signed POST, ten seconds from name to last byte, and its result."""

import asyncio
import email.utils
import time

import msgspec
import structlog

from tillhouse.outgoing.connection import NotSent
from tillhouse.webhooks.sender.client import WebhookClient, WebhookExchange

TIMEOUT_S = 10.0
_SUCCESS = range(200, 300)
_MAY_SAY_LATER = (429, 503)
_SECONDS_MAX = 10

log = structlog.get_logger()


class AttemptOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an attempt."""

    is_delivered: bool
    response_status: int | None = None
    latency_ms: int
    error: str | None = None
    address: str | None = None
    response: str | None = None
    retry_after_s: float = 0.0
    phases: dict[str, int] = {}


async def attempt(
    client: WebhookClient,
    url: str,
    body: bytes,
    headers: dict[str, str],
    *,
    within_s: float = TIMEOUT_S,
) -> AttemptOutcome:
    """Send once. This ends in time and raises nothing, whatever the receiver does."""
    began = time.perf_counter()
    exchange = WebhookExchange(began=began)
    failure: Exception | None = None
    try:
        async with asyncio.timeout(within_s):
            await client.post(url, body, headers, exchange)
    except Exception as error:  # noqa: BLE001 - a receiver's tricks must not end the worker
        failure = error
    ended = time.perf_counter()
    status = exchange.answer.status if exchange.answer is not None else None
    # The status decides, once it is here: whatever is wrong with the body is ignored.
    is_delivered = status in _SUCCESS
    refused = None if is_delivered else f"http_{status}"
    return AttemptOutcome(
        is_delivered=is_delivered,
        response_status=status,
        latency_ms=round((ended - began) * 1000),
        error=_reason(failure) if status is None else refused,
        address=exchange.address,
        response=_shown(exchange),
        retry_after_s=_retry_after(exchange) if status in _MAY_SAY_LATER else 0.0,
        phases=exchange.phases(ended),
    )


def _shown(exchange: WebhookExchange) -> str | None:
    """The start of the body, as text that PostgreSQL keeps."""
    if exchange.answer is None or exchange.answer.status is None:
        return None
    return exchange.answer.start.decode("utf-8", "replace").replace(
        "\0", "\N{REPLACEMENT CHARACTER}"
    )


def _retry_after(exchange: WebhookExchange) -> float:
    text = exchange.answer.retry_after if exchange.answer is not None else ""
    if text.isascii() and text.isdigit() and len(text) <= _SECONDS_MAX:
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


def _reason(error: Exception | None) -> str:
    """A failure in a word or two, the same for the same cause."""
    if isinstance(error, NotSent):
        return error.reason
    if isinstance(error, TimeoutError):
        return "timeout"
    log.error("webhook_attempt_broken", error=type(error).__name__, exc_info=error)
    return f"error_{type(error).__name__}"
