"""CORS: browsers on the origins that a key lists may read the answers on /v1."""

from tillhouse.access.callers import KeyCaller
from tillhouse.http.exchange import Exchange
from tillhouse.http.problems import Headers
from tillhouse.kit.network import origin_allowed

_METHODS = b"GET, HEAD, POST, PATCH, PUT, DELETE"
_REQUEST_HEADERS = b"authorization, content-type, idempotency-key, x-request-id"
_EXPOSED = b"x-request-id, idempotent-replayed, retry-after, ratelimit, ratelimit-policy, link"


def is_preflight(exchange: Exchange) -> bool:
    """Whether a browser asks if it may send the real request."""
    return (
        exchange.method == "OPTIONS"
        and b"origin" in exchange.headers
        and b"access-control-request-method" in exchange.headers
        and exchange.path.startswith("/v1/")
    )


def preflight_headers(exchange: Exchange) -> Headers:
    """A preflight carries no key, so it tells only the methods open to any origin."""
    return [
        (b"access-control-allow-origin", exchange.headers[b"origin"]),
        (b"access-control-allow-methods", _METHODS),
        (b"access-control-allow-headers", _REQUEST_HEADERS),
        (b"access-control-max-age", b"600"),
        (b"vary", b"origin"),
    ]


def answer_headers(exchange: Exchange) -> Headers:
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
