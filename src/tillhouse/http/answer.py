"""The bytes of an answer: headers that every one carries, and its own."""

from tillhouse.access.callers import Allowance
from tillhouse.http.exchange import Exchange, Send
from tillhouse.http.problems import Headers

JSON = b"application/json"
NO_CONTENT = 204

# An API answers data to programs: nothing of it may be framed, sniffed, run or cached.
SAFE_HEADERS: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
API_HEADERS: Headers = [
    *SAFE_HEADERS,
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
]
HSTS = (b"strict-transport-security", b"max-age=31536000")


def rate_headers(allowance: Allowance | None) -> Headers:
    """What is left of the caller's rate, in the form of the IETF draft."""
    if allowance is None:
        return []
    policy = b'"default";q=%d;w=%d' % (allowance.limit, allowance.window_s)
    left = b'"default";r=%d;t=%d' % (allowance.remaining, max(0, -int(-allowance.full_in_s // 1)))
    return [(b"ratelimit-policy", policy), (b"ratelimit", left)]


async def send_answer(
    send: Send, exchange: Exchange, status: int, body: bytes, own: Headers
) -> None:
    """Send a JSON answer; one without content has no length and no type (RFC 9110, 8.6)."""
    content: Headers = [(b"content-type", JSON), (b"content-length", b"%d" % len(body))]
    headers = [
        *(content if status != NO_CONTENT else ()),
        (b"x-request-id", exchange.request_id.encode()),
        *API_HEADERS,
        *own,
        *exchange.extra_headers,
        *rate_headers(exchange.allowance),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
