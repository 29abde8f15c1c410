"""The ASGI application: finds the endpoint, turns refusals into answers, counts and logs."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable

import structlog

from tillhouse.access.callers import KeyCaller
from tillhouse.access.process import Services
from tillhouse.access.usage import RequestSeen
from tillhouse.http import cors, problems
from tillhouse.http.answer import (
    API_HEADERS,
    HSTS,
    PIECE_BYTES,
    STOPPING,
    send_answer,
    send_body,
    send_stream,
    sent,
    sheet_headers,
    until_stopped,
)
from tillhouse.http.body import ClientLeft
from tillhouse.http.exchange import Exchange, Receive, Scope, Send, begin
from tillhouse.http.log import AccessLog
from tillhouse.http.metrics import CONTENT_TYPE, Metrics
from tillhouse.http.problems import Headers
from tillhouse.http.raw import RawEndpoint, RawRoute
from tillhouse.http.route import Route
from tillhouse.http.router import Router
from tillhouse.kit.errors import Missing, Problem

log = structlog.get_logger()

Page = Callable[[Services, Exchange], Awaitable[tuple[int, Headers, bytes]]]
Responded = tuple[int, bytes | AsyncGenerator[bytes], Headers]
_UNKNOWN = "(unknown)"


class Api:
    """Answers every HTTP request of one process."""

    def __init__(
        self,
        services: Services,
        routes: Iterable[Route],
        pages: dict[str, Page],
        raw: Iterable[RawRoute] = (),
    ) -> None:
        self._services = services
        self._router = Router(routes, raw)
        self._pages = dict(pages)
        self._metrics = Metrics(
            services.pool, services.workers, services.job_results, services.storage
        )
        self._access_log = AccessLog(services.settings.log_level)
        self._https: Headers = [HSTS] if services.settings.public_url.startswith("https") else []

    def add_metrics_page(self) -> None:
        """Serve the counts at /metrics."""

        async def metrics(_services: Services, _exchange: Exchange) -> tuple[int, Headers, bytes]:
            return 200, [(b"content-type", CONTENT_TYPE)], self._metrics.render()

        self._pages["/metrics"] = metrics

    async def refresh_metrics(self) -> bool:
        """Measure now: another process of this installation may be asked for all of them."""
        self._metrics.refresh()
        return False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        exchange = begin(scope, self._services.settings.trusted_proxies)
        exchange.extra_headers = list(self._https)
        status, body, headers = 499, b"", []
        try:
            status, body, headers = await self._respond(exchange, receive)
            if not exchange.is_page:
                headers = [*headers, *cors.answer_headers(exchange)]
            if isinstance(body, bytes):
                self._services.shares.activity.move(exchange.owner, len(body))
                with self._services.shares.answers.hold(exchange.owner) as held:
                    if len(body) > PIECE_BYTES:
                        held.note(len(body))
                    how = _send_page if exchange.is_page else send_answer
                    await how(send, exchange, status, body, headers)
        except ClientLeft:
            pass
        except TimeoutError:
            log.info("answer_not_taken", request_id=exchange.request_id)
        finally:
            # A stream is noted when it begins: how long it lasts is up to its caller.
            self._note(exchange, status)
        if not isinstance(body, bytes):
            heard = until_stopped(receive, scope.get("state", {}).get(STOPPING))
            await self._stream(send, heard, exchange, body, headers)

    async def _stream(
        self,
        send: Send,
        receive: Receive,
        exchange: Exchange,
        pieces: AsyncGenerator[bytes],
        headers: Headers,
    ) -> None:
        try:
            await send_stream(send, receive, exchange, pieces, headers)
        except TimeoutError:
            log.info("stream_not_taken", request_id=exchange.request_id)
        finally:
            for held in exchange.held:
                held.release()

    async def _respond(self, exchange: Exchange, receive: Receive) -> Responded:
        try:
            return await self._dispatch(exchange, receive)
        except Problem as problem:
            body = problems.envelope(problem, exchange.request_id)
            return problems.status_of(problem), body, problems.headers_of(problem)
        except ClientLeft:
            raise
        except Exception:
            log.exception("internal_error", request_id=exchange.request_id, route=exchange.template)
            return 500, problems.internal_error(exchange.request_id), []

    async def _dispatch(self, exchange: Exchange, receive: Receive) -> Responded:
        if exchange.path in self._pages and exchange.method in ("GET", "HEAD"):
            exchange.template = exchange.path
            status, headers, body = await self._pages[exchange.path](self._services, exchange)
            exchange.is_page = True
            return status, body, headers
        if cors.is_preflight(exchange):
            exchange.template = "(preflight)"
            self._router.methods(exchange.path)
            return 204, b"", cors.preflight_headers(exchange)
        if exchange.path in self._pages:
            raise Missing
        endpoint, path = self._router.find(exchange.method, exchange.path)
        exchange.template = endpoint.route.path
        if isinstance(endpoint, RawEndpoint):
            page = await endpoint.answer(self._services, exchange, path, receive)
            exchange.is_page = True
            if not isinstance(page.body, bytes):
                return page.status, page.body, page.headers
            content_type = (b"content-type", page.content_type.encode("latin-1"))
            return page.status, page.body, [content_type, *page.headers]
        answer = await endpoint.answer(self._services, exchange, path, receive)
        if not isinstance(answer.body, bytes) and exchange.caller is not None:
            exchange.held = self._services.shares.hold_stream(exchange.caller)
        headers: Headers = [(b"idempotent-replayed", b"true")] if answer.is_replay else []
        if answer.sheet is not None:
            headers += sheet_headers(exchange, answer.sheet.next)
        return answer.status, answer.body, headers

    def _note(self, exchange: Exchange, status: int) -> None:
        took_s = time.perf_counter() - exchange.started
        template = exchange.template or _UNKNOWN
        self._metrics.observe(exchange.method, template, status, took_s)
        caller = exchange.caller
        if isinstance(caller, KeyCaller):
            route = (exchange.method, template)
            self._services.usage.count(
                caller, route, status, took_s, RequestSeen(exchange.now, exchange.ip)
            )
        self._access_log.write(exchange, template, status, took_s)


async def _send_page(
    send: Send, exchange: Exchange, status: int, body: bytes, headers: Headers
) -> None:
    """Pages bring their own headers; a header that they don't set is the API's."""
    own = {name for name, _ in headers}
    rest = [(name, value) for name, value in API_HEADERS if name not in own]
    length = (b"content-length", b"%d" % len(body))
    request_id = (b"x-request-id", exchange.request_id.encode())
    all_headers = [*headers, *rest, length, request_id, *exchange.extra_headers]
    await send({"type": "http.response.start", "status": status, "headers": all_headers})
    await send_body(send, sent(exchange, body))
