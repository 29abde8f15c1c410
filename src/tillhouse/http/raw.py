"""Routes beside the API: pages for people, hooks for providers. Bytes come, bytes go.

They are found, logged, counted and limited like operations of the API, and carry the same
headers, but have no caller, no envelope and no transaction: a handler opens its own.
"""

import asyncio
import base64
import hashlib
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from typing import Literal
from urllib.parse import parse_qsl
from uuid import UUID

import msgspec
import structlog

from tillhouse.access.callers import UserCaller
from tillhouse.access.process import Services
from tillhouse.http import problems
from tillhouse.http.away import DATABASE_AWAY, TRY_AGAIN, away
from tillhouse.http.exchange import BODY_BYTES_MAX, ClientLeft, Exchange, Receive, read_bytes
from tillhouse.http.fields import PARAMETERS_MAX
from tillhouse.http.problems import Headers
from tillhouse.kit.errors import Invalid, Limited, Missing, Problem, Unavailable
from tillhouse.kit.text import unfit

log = structlog.get_logger()

HTML = "text/html; charset=utf-8"
ANSWERED_WITHIN_S = 30.0
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Few hooks are larger.
SMALL_BODY_BYTES = 64 * 1024
# The longest value in an address of ours is an id, a code or the digest of a file.
PATH_VALUE_LENGTH_MAX = 200


class RawRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request as a handler sees it: its content, without a caller."""

    now: datetime
    request_id: str
    ip: str
    method: str
    # The path parameters, as sent.
    path: Mapping[str, str]
    query: Mapping[str, str]
    # Names in lower case.
    headers: Mapping[bytes, bytes]
    body: bytes = b""

    def ids(self, *names: str, missing: type[Missing] = Missing) -> list[UUID]:
        """Ids in the path, in the one spelling that we give them out in; else this refusal."""
        texts = [self.path[name] for name in names]
        if not all(map(_UUID.fullmatch, texts)):
            raise missing
        return [UUID(text) for text in texts]

    def header(self, name: str) -> str | None:
        """A header as text."""
        value = self.headers.get(name.lower().encode("latin-1"))
        return value.decode("latin-1") if value is not None else None


class RawAnswer(msgspec.Struct, frozen=True):
    """An answer: nothing is added to its bytes, and its headers win over the usual ones.

    Server-sent events come in pieces, without a turn or a connection while they wait.
    """

    content_type: str
    body: bytes | AsyncGenerator[bytes]
    status: int = 200
    headers: Headers = []
    # The person who is signed in: the log names the caller, and the bytes are the business's.
    person: UserCaller | None = None


# Renders a refusal for people, from its sentence and the request's id.
Refusal = Callable[[str, str], RawAnswer]


class RawRoute(msgspec.Struct, frozen=True, kw_only=True):
    """One path that answers with a page; one that takes GET takes HEAD as well."""

    method: Literal["GET", "POST"]
    path: str
    handler: Callable[[Services, RawRequest], Awaitable[RawAnswer]]
    # How refusals are shown; without it they are the API's own JSON.
    refusal: Refusal | None = None
    # How an address that leads nowhere is refused.
    missing: type[Missing] = Missing
    # Refuses a request by its head alone, before its body is read.
    check: Callable[[Services, RawRequest], Awaitable[None]] | None = None
    # Told of a request that passed `check` and was refused by what came after: what it was about
    # may be of no more use. A request that shall only wait (429 or 503) is none of these.
    refused: Callable[[Services, RawRequest], Awaitable[None]] | None = None
    body_bytes_max: int = BODY_BYTES_MAX
    # Whether other systems call it: hooks take turns apart from pages.
    is_hook: bool = False
    # Whether its handler takes turns by itself, those of the person whose page it is.
    has_own_queue: bool = False
    # Whether it may have to be printed: such requests take turns of their own as well.
    is_printed: bool = False
    answered_within_s: float = ANSWERED_WITHIN_S


class RawEndpoint:
    """A raw route, ready to answer."""

    def __init__(self, route: RawRoute) -> None:
        self.route = route

    async def answer(
        self, services: Services, exchange: Exchange, path: dict[str, str], receive: Receive
    ) -> RawAnswer:
        """Answer one request; refusals are pages too where the route says how they look."""
        refusal = self.route.refusal
        if refusal is None:
            return await self._answer(services, exchange, path, receive)
        try:
            page = await self._answer(services, exchange, path, receive)
            exchange.caller = page.person
            return page
        except ClientLeft:
            raise
        except Problem as problem:
            page = refusal(problem.message, exchange.request_id)
            headers = [*page.headers, *problems.headers_of(problem)]
            status = problems.status_of(problem)
        except Exception:
            log.exception("internal_error", request_id=exchange.request_id, route=self.route.path)
            page = refusal("Something failed on our side.", exchange.request_id)
            headers, status = page.headers, 500
        return msgspec.structs.replace(page, status=status, headers=headers)

    async def _answer(
        self, services: Services, exchange: Exchange, path: dict[str, str], receive: Receive
    ) -> RawAnswer:
        asked = RawRequest(
            now=exchange.now,
            request_id=exchange.request_id,
            ip=exchange.ip,
            method=exchange.method,
            path=path,
            query=_query(exchange.query),
            headers=exchange.headers,
        )
        self._check_path(path)
        try:
            if self.route.check is not None:
                async with self._turn(services, exchange):
                    await self.route.check(services, asked)
            if self.route.method == "GET":
                return await self._handle(services, exchange, asked)
            async with self._place(services, exchange):
                return await self._take(services, exchange, asked, receive)
        except TimeoutError as error:
            log.warning("too_slow", request_id=exchange.request_id, route=self.route.path)
            raise Unavailable(retry_after_s=1) from error
        except (*DATABASE_AWAY, *TRY_AGAIN) as error:
            raise away(error, exchange) from error

    async def _take(
        self, services: Services, exchange: Exchange, asked: RawRequest, receive: Receive
    ) -> RawAnswer:
        try:
            with services.shares.body(exchange.owner, is_stranger=True) as held:
                bytes_max = self.route.body_bytes_max
                body = await read_bytes(exchange, receive, bytes_max, held)
                with_body = msgspec.structs.replace(asked, body=body)
                return await self._handle(services, exchange, with_body)
        except (Limited, Unavailable):
            raise
        except Problem:
            if self.route.refused is not None:
                await self.route.refused(services, asked)
            raise

    async def _handle(self, services: Services, exchange: Exchange, asked: RawRequest) -> RawAnswer:
        async with (
            self._turn(services, exchange),
            asyncio.timeout(self.route.answered_within_s),
        ):
            services.shares.answers.check(exchange.owner)
            return await self.route.handler(services, asked)

    def _check_path(self, path: Mapping[str, str]) -> None:
        """Refuse values that no address of ours holds, before a handler looks for them."""
        for value in path.values():
            # The server reads bytes that are no UTF-8 as the replacement character.
            is_broken = "\ufffd" in value or unfit(value) is not None
            if is_broken or len(value) > PATH_VALUE_LENGTH_MAX:
                raise self.route.missing

    def _turn(self, services: Services, exchange: Exchange) -> AbstractAsyncContextManager[None]:
        shares, route = services.shares, self.route
        if route.has_own_queue:
            return nullcontext()
        gate = shares.hooks if route.is_hook else shares.pages
        if route.is_printed:
            gate = shares.receipts
        return gate.turn(exchange.owner)

    def _place(self, services: Services, exchange: Exchange) -> AbstractAsyncContextManager[None]:
        """One of few places while a large body is read and judged; none for a small one."""
        declared = exchange.headers.get(b"content-length", b"0")
        is_told = b"transfer-encoding" not in exchange.headers and declared.isdigit()
        if is_told and int(declared[:12]) <= SMALL_BODY_BYTES:
            return nullcontext()
        return services.shares.large_hooks.turn(exchange.owner)


def _query(raw: bytes) -> dict[str, str]:
    """The parameters; of one that is given twice, the last."""
    try:
        text = raw.decode("ascii")
        pairs = parse_qsl(
            text, keep_blank_values=True, errors="strict", max_num_fields=PARAMETERS_MAX
        )
    except ValueError:
        raise Invalid.field("query", "must be URL-encoded UTF-8") from None
    for reason in filter(None, (unfit(text) for pair in pairs for text in pair)):
        raise Invalid.field("query", reason)
    return dict(pairs)


def html_page(text: str, style: str) -> RawAnswer:
    """A page for people that loads and runs nothing; `style` is the text of its one <style>."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest())
    policy = (
        b"default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'; "
        b"frame-ancestors 'none'" % digest
    )
    headers: Headers = [(b"content-security-policy", policy), (b"x-robots-tag", b"noindex")]
    return RawAnswer(HTML, text.encode(), headers=headers)
