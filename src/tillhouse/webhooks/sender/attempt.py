"""One attempt: a signed POST, ten seconds from name to last byte, and what came of it."""

import asyncio
import email.utils
import ssl
import time

import aiohttp
import msgspec
import structlog
from yarl import URL

from tillhouse.webhooks.sender.guard import ForbiddenTarget, Response
from tillhouse.webhooks.sender.phases import Phases

TIMEOUT_S = 10.0
RESPONSE_BYTES_MAX = 16 * 1024
SHOWN_BYTES = 500
_SUCCESS = range(200, 300)
_MAY_SAY_LATER = (429, 503)
_SECONDS_MAX = 10
_HUNG_UP = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)

log = structlog.get_logger()


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
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
    session: aiohttp.ClientSession, url: str, body: bytes, headers: dict[str, str]
) -> Outcome:
    """Send once. This ends in time and raises nothing, whatever the receiver does."""
    began = time.perf_counter()
    answer = _Answer(Phases(began=began))
    try:
        async with asyncio.timeout(TIMEOUT_S):
            while not await _is_sent(session, url, body, headers, answer):
                answer.phases = Phases(began=time.perf_counter())
    except Exception as error:  # noqa: BLE001 - a receiver's tricks must not end the worker
        # The status decides, once it is here: whatever is wrong with the body is ignored.
        if answer.status is None:
            return Outcome(
                is_delivered=False,
                latency_ms=_since(began),
                error=reason(error),
                phases=answer.phases.in_ms(),
            )
    is_delivered = answer.status in _SUCCESS
    return Outcome(
        is_delivered=is_delivered,
        response_status=answer.status,
        latency_ms=_since(began),
        error=None if is_delivered else f"http_{answer.status}",
        address=answer.peer,
        response=answer.start[:SHOWN_BYTES].decode("utf-8", "replace").replace("\0", "�"),
        retry_after_s=answer.retry_after_s,
        phases=answer.phases.in_ms(),
    )


class _Answer(msgspec.Struct):
    """The part of the response read so far."""

    phases: Phases
    status: int | None = None
    peer: str | None = None
    retry_after_s: float = 0.0
    start: bytes = b""


async def _is_sent(
    session: aiohttp.ClientSession,
    url: str,
    body: bytes,
    headers: dict[str, str],
    answer: _Answer,
) -> bool:
    """Send; False when a kept connection was closed from the other side, which is no failure."""
    try:
        await _send(session, url, body, headers, answer)
    except _HUNG_UP:
        if answer.status is not None or not answer.phases.is_kept:
            raise
        return False
    return True


async def _send(
    session: aiohttp.ClientSession,
    url: str,
    body: bytes,
    headers: dict[str, str],
    answer: _Answer,
) -> None:
    async with session.post(
        URL(url, encoded=True), data=body, headers=headers, allow_redirects=False,
        trace_request_ctx=answer.phases,
    ) as response:  # fmt: skip
        answer.phases.answered = time.perf_counter()
        answer.peer = response.peer if isinstance(response, Response) else None
        if response.status in _MAY_SAY_LATER:
            answer.retry_after_s = _retry_after(response)
        answer.status = response.status
        await _read(response, answer)


async def _read(response: aiohttp.ClientResponse, answer: _Answer) -> None:
    """The start of the response; a longer one costs the connection, not our memory."""
    while len(answer.start) < RESPONSE_BYTES_MAX:
        part = await response.content.read(RESPONSE_BYTES_MAX - len(answer.start))
        if not part:
            return
        answer.start += part
    response.close()


def _retry_after(response: aiohttp.ClientResponse) -> float:
    text = response.headers.get("Retry-After", "")
    if text.isascii() and text.isdigit() and len(text) <= _SECONDS_MAX:
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


def _since(began: float) -> int:
    return round((time.perf_counter() - began) * 1000)


def reason(error: BaseException) -> str:
    """A failure in a word or two, the same for the same cause."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = getattr(cause, "os_error", None) or cause.__cause__ or cause.__context__
    for link in chain:
        if isinstance(link, ForbiddenTarget):
            return "forbidden_target"
    for kinds, name in _REASONS:
        if isinstance(error, kinds):
            return name
    return f"error_{type(error).__name__}"


_REASONS: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
    ((TimeoutError,), "timeout"),
    ((aiohttp.ClientConnectorDNSError,), "dns_failed"),
    ((aiohttp.ClientConnectorCertificateError, ssl.SSLCertVerificationError), "tls_certificate"),
    ((aiohttp.ClientConnectorSSLError, ssl.SSLError), "tls_failed"),
    ((aiohttp.ClientConnectorError,), "connection_failed"),
    ((aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, ConnectionError), "connection_lost"),
    ((aiohttp.ClientPayloadError, aiohttp.ClientResponseError), "bad_response"),
    ((aiohttp.InvalidURL,), "bad_url"),
)
