"""The ASGI application: finds the endpoint, turns refusals into answers, counts and logs.

First the router, from a path to its endpoint: one step down a tree for each segment. Last CORS:
browsers on the origins that a key lists may read the answers on /v1.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import Any

import structlog

from tillhouse.access.callers import KeyCaller
from tillhouse.access.process import Services
from tillhouse.access.usage import RequestSeen
from tillhouse.http import problems
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
from tillhouse.http.endpoint import RouteHandler
from tillhouse.http.exchange import ClientLeft, Exchange, Receive, Scope, Send, begin
from tillhouse.http.log import AccessLog
from tillhouse.http.metrics import CONTENT_TYPE, Metrics
from tillhouse.http.problems import Headers
from tillhouse.http.raw import RawEndpoint, RawRoute
from tillhouse.http.route import Route
from tillhouse.kit.errors import Missing, Problem, WrongMethod
from tillhouse.kit.network import origin_allowed
from tillhouse.kit.suggestions import nearest

_LEAF = "/"
# A deeper path than this is no typing error.
_DEPTH_MAX = 8
# Left out by somebody who read the path of an operation without it.
_PREFIX = "v1"

Found = RouteHandler | RawEndpoint


class Router:
    """The route table as a tree; a fixed segment wins over a parameter."""

    def __init__(self, routes: Iterable[Route], raw: Iterable[RawRoute] = ()) -> None:
        self.endpoints = [RouteHandler(route) for route in routes]
        self._root: dict[str, Any] = {}
        for endpoint in [*self.endpoints, *map(RawEndpoint, raw)]:
            self._add(endpoint, endpoint.route.method)
            if endpoint.route.method == "GET":
                # Every GET can be asked for its head alone (RFC 9110, 9.3.2).
                self._add(endpoint, "HEAD")

    def _add(self, endpoint: Found, method: str) -> None:
        node = self._root
        names: list[str] = []
        for segment in endpoint.route.path.strip("/").split("/"):
            is_parameter = segment.startswith("{")
            if is_parameter:
                names.append(segment[1:-1])
            node = node.setdefault("{}" if is_parameter else segment, {})
        methods = node.setdefault(_LEAF, {})
        if method in methods:
            raise ValueError(f"{method} {endpoint.route.path} is in the table twice")
        methods[method] = (endpoint, names)

    def find(self, method: str, path: str) -> tuple[Found, dict[str, str]]:
        """The endpoint and its path parameters, or `Missing`, or `WrongMethod`."""
        methods, values = self._leaf(path)
        if method not in methods:
            raise WrongMethod(sorted(methods))
        endpoint, names = methods[method]
        return endpoint, dict(zip(names, values, strict=True))

    def methods(self, path: str) -> list[str]:
        """The methods that a path has."""
        return sorted(self._leaf(path)[0])

    def _leaf(self, path: str) -> tuple[dict[str, tuple[Found, list[str]]], list[str]]:
        segments = path[1:].split("/") if path.startswith("/") else []
        found = _find(self._root, segments, 0, [])
        if found is None:
            meant = self._meant(path)
            guess = f" Did you mean {meant}?" if meant else ""
            raise Missing(f"There is nothing at this path.{guess} The API is described at /docs.")
        return found

    def _meant(self, path: str) -> str | None:
        """The path in the table that differs by a slash, the version or one mistyped name."""
        segments = path.split("/", _DEPTH_MAX + 2)
        named = [segment for segment in segments if segment]
        if len(segments) > _DEPTH_MAX + 2 or not named:
            return None
        return _near(self._root, named, 1) or _near(self._root, [_PREFIX, *named], 1)


def _find(
    node: dict[str, Any], segments: list[str], index: int, values: list[str]
) -> tuple[dict[str, tuple[Found, list[str]]], list[str]] | None:
    if index == len(segments):
        return (node[_LEAF], values) if _LEAF in node else None
    segment = segments[index]
    if segment in node and segment != "{}":
        found = _find(node[segment], segments, index + 1, values)
        if found is not None:
            return found
    if "{}" in node and segment:
        return _find(node["{}"], segments, index + 1, [*values, segment])
    return None


def _near(node: dict[str, Any], segments: list[str], edits: int) -> str | None:
    """The path that these segments lead to when so many of them are read as their nearest."""
    if not segments:
        methods: dict[str, tuple[Found, list[str]]] = node.get(_LEAF, {})
        return next((endpoint.route.path for endpoint, _ in methods.values()), None)
    segment, rest = segments[0], segments[1:]
    names = [name for name in node if name not in ("{}", _LEAF)]
    if segment in names:
        return _near(node[segment], rest, edits)
    if edits and (guess := nearest(segment, names)):
        return _near(node[guess], rest, edits - 1)
    return _near(node["{}"], rest, edits) if "{}" in node else None


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
                headers = [*headers, *_cors_headers(exchange)]
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
        if _is_preflight(exchange):
            exchange.template = "(preflight)"
            self._router.methods(exchange.path)
            return 204, b"", _preflight_headers(exchange)
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


_METHODS = b"GET, HEAD, POST, PATCH, PUT, DELETE"
_REQUEST_HEADERS = b"authorization, content-type, idempotency-key, x-request-id"
_EXPOSED = b"x-request-id, idempotent-replayed, retry-after, ratelimit, ratelimit-policy, link"


def _is_preflight(exchange: Exchange) -> bool:
    """Whether a browser asks if it may send the real request."""
    return (
        exchange.method == "OPTIONS"
        and b"origin" in exchange.headers
        and b"access-control-request-method" in exchange.headers
        and exchange.path.startswith("/v1/")
    )


def _preflight_headers(exchange: Exchange) -> Headers:
    """A preflight carries no key, so it tells only the methods open to any origin."""
    return [
        (b"access-control-allow-origin", exchange.headers[b"origin"]),
        (b"access-control-allow-methods", _METHODS),
        (b"access-control-allow-headers", _REQUEST_HEADERS),
        (b"access-control-max-age", b"600"),
        (b"vary", b"origin"),
    ]


def _cors_headers(exchange: Exchange) -> Headers:
    """Let a listed origin read the answer."""
    origin = exchange.header(b"origin")
    caller = exchange.caller
    if not origin or not isinstance(caller, KeyCaller) or not caller.allowed_origins:
        return []
    if not origin_allowed(origin, caller.allowed_origins):
        return []
    return [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", _EXPOSED),
        (b"vary", b"origin"),
    ]
