"""Calls of a provider's API: bounded, never redirected, and each failure is one of three.

`NotReached` when nothing was executed, `Unclear` when a change may have been, `ProviderRefused`
when the provider says no in its own words. An answer that can't be read says nothing, whatever its
status.
"""

from collections.abc import Callable, Mapping
from typing import Literal, TypeVar

import aiohttp
import msgspec

from tillhouse.providers.payments.exponents import NotExact
from tillhouse.providers.payments.provider import NotReached, ProviderRefused, Unclear, Unknown

TIMEOUT_S = 20.0
# The longest honest answer is a page of banks.
ANSWER_BYTES_MAX = 1024 * 1024
_WORDS_LENGTH_MAX = 300
_TOO_MANY, _TIMED_OUT, _MISSING = 429, 408, 404
_BAD_KEY = (401, 403)

T = TypeVar("T")


class BadKey(ProviderRefused):
    """The credentials are refused, so nothing was executed."""


class ProviderRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request to a provider."""

    path: str
    headers: Mapping[str, str]
    method: Literal["GET", "POST"] = "GET"
    body: bytes | None = None
    # Silence leaves open whether something changed.
    changes: bool = False


class ProviderAnswer(msgspec.Struct, frozen=True):
    """A whole answer."""

    status: int
    body: bytes
    changes: bool
    # The pause that is asked for before the next request, as it stands in the header.
    retry_after: str | None = None

    def lost(self, why: str) -> NotReached | Unclear:
        """The error of an answer that says nothing."""
        return _lost(self.changes, f"it answered {self.status}: {why}")

    def read(self, kind: type[T]) -> T:
        """The body as this type."""
        try:
            return msgspec.json.decode(self.body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self.lost(str(error)[:_WORDS_LENGTH_MAX]) from None

    def exactly(self, convert: Callable[[], T]) -> T:
        """The result of a conversion of its text, which must be exact."""
        try:
            return convert()
        except NotExact as error:
            raise self.lost(str(error)) from None


class Caller:
    """Calls the API at one address."""

    def __init__(self, base_url: str, timeout_s: float = TIMEOUT_S) -> None:
        self._base_url = base_url.rstrip("/")
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)

    async def call(self, ask: ProviderRequest) -> ProviderAnswer:
        """Ask, and read the answer to its end."""
        # An answer that is packed could unpack without bound.
        headers = {**ask.headers, "accept": "application/json", "accept-encoding": "identity"}
        try:
            async with (
                aiohttp.ClientSession(timeout=self._timeout, auto_decompress=False) as session,
                session.request(
                    ask.method,
                    self._base_url + ask.path,
                    data=ask.body,
                    headers=headers,
                    allow_redirects=False,
                ) as response,
            ):
                pause = response.headers.get("retry-after")
                return ProviderAnswer(
                    response.status, await _whole(response, ask), ask.changes, pause
                )
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise NotReached(_in_words(error)) from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _lost(ask.changes, _in_words(error)) from None


async def _whole(response: aiohttp.ClientResponse, ask: ProviderRequest) -> bytes:
    body = bytearray()
    async for part in response.content.iter_any():
        body += part
        if len(body) > ANSWER_BYTES_MAX:
            raise _lost(ask.changes, f"it answered {response.status}: too long an answer")
    return bytes(body)


def _in_words(error: Exception) -> str:
    """The end of a connection, for people who look why."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            return "its address is not found (DNS)"
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientSSLError():
            return "its certificate is not accepted (TLS)"
        case aiohttp.ConnectionTimeoutError():
            return "no connection in time"
        case TimeoutError():
            return "no answer in time"
        case aiohttp.ClientConnectorError():
            return "it takes no connection"
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError():
            return "it closed the connection before it answered"
        case _:
            return "the connection broke, or what came was no HTTP"


def _lost(changes: bool, why: str) -> NotReached | Unclear:
    return Unclear(why) if changes else NotReached(why)


def settle(answer: ProviderAnswer, words_of: Callable[[bytes], str | None]) -> ProviderAnswer:
    """A good answer; any other raises. `words_of` finds the provider's own words in a refusal."""
    if answer.status in range(200, 300):
        return answer
    if answer.status == _TOO_MANY:
        raise NotReached(f"it answered {answer.status}: too many requests")
    if answer.status not in range(400, 500) or answer.status == _TIMED_OUT:
        raise answer.lost("no answer of an API")
    words = words_of(answer.body)
    if words is None:
        # Something in between refuses, so the provider never heard of it.
        raise NotReached(f"something before it answered {answer.status}")
    words = words[:_WORDS_LENGTH_MAX]
    if answer.status in _BAD_KEY:
        raise BadKey(words)
    if answer.status == _MISSING and not answer.changes:
        raise Unknown(words)
    raise ProviderRefused(words)
