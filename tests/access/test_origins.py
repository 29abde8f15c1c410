"""Browsers: which origins may use a key, and what CORS tells them."""

import pytest

from tests.api import Api
from tests.make import Business, Make

HEALTH = "/v1/voice/health"
LISTED = ["shop.example.com", "*.example.org", "https://till.example.net", "localhost:5173"]
PREFLIGHT = {
    "origin": "https://anything.example",
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization, content-type, idempotency-key",
}


GOOD = [
    "https://shop.example.com",
    "http://shop.example.com:8080",
    "https://SHOP.example.com",
    "https://a.example.org",
    "https://a.b.example.org",
    "https://till.example.net",
    "https://till.example.net:443",
    "http://localhost:5173",
]
BAD = [
    "https://example.com",
    "https://example.org",
    "https://shop.example.com.evil.com",
    "https://evilshop.example.com",
    "https://notexample.org",
    "http://till.example.net",
    "https://till.example.net:8443",
    "http://localhost:5174",
    "shop.example.com",
    "https://shop.example.com/",
    "https://shop.example.com@evil.com",
    "https://*.example.org",
    "null",
    "file://",
    "https://shop.example.com, https://evil.com",
    "https://shop.example.com\xe9",
]


async def test_a_listed_origin_reads_the_answer(business: Business) -> None:
    """Host alone, with port, with scheme, or every name below a domain."""
    key = await business.key("voice:read", allowed_origins=LISTED)
    for origin in GOOD:
        client = business.anybody.as_bearer(key["secret"], origin=origin)
        answer = await client.get(HEALTH, status=200)
        assert answer.headers["access-control-allow-origin"] == origin
        assert "ratelimit" in answer.headers["access-control-expose-headers"]
        assert answer.headers["vary"] == "origin"


async def test_another_origin_is_refused(business: Business) -> None:
    """403, and nothing that a foreign page could read."""
    key = await business.key("voice:read", allowed_origins=LISTED)
    for origin in BAD:
        client = business.anybody.as_bearer(key["secret"], origin=origin)
        answer = await client.get(HEALTH)
        assert (answer.status, answer.error) == (403, "forbidden"), origin
        assert "access-control-allow-origin" not in answer.headers


async def test_servers_send_no_origin(business: Business) -> None:
    """They are let in, and no CORS header is of use to them."""
    client = await business.client("voice:read", allowed_origins=LISTED)
    answer = await client.get(HEALTH, status=200)
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_a_key_without_origins_is_not_for_browsers(business: Business) -> None:
    """The request passes, but a browser may not read the answer."""
    key = await business.key("voice:read")
    client = business.anybody.as_bearer(key["secret"], origin="https://shop.example.com")
    answer = await client.get(HEALTH, status=200)
    assert "access-control-allow-origin" not in answer.headers


async def test_a_listed_origin_reads_refusals_too(business: Business) -> None:
    """Otherwise a page could not tell its user what is wrong."""
    key = await business.key("orders:read", allowed_origins=LISTED)
    client = business.anybody.as_bearer(key["secret"], origin="https://shop.example.com")
    answer = await client.get(HEALTH, status=403)
    assert answer.headers["access-control-allow-origin"] == "https://shop.example.com"


async def test_credentials_are_never_shared_across_origins(business: Business) -> None:
    """No cookie opens /v1, and no answer invites one."""
    client = await business.client("voice:read", allowed_origins=LISTED)
    answer = await client.get(HEALTH, headers={"origin": "https://shop.example.com"}, status=200)
    assert "access-control-allow-credentials" not in answer.headers


async def test_a_preflight_tells_what_may_be_tried(make: Make) -> None:
    """It carries no key, so it says the same to everybody, and has no body."""
    answer = await make.anybody.request("OPTIONS", HEALTH, headers=PREFLIGHT, status=204)
    assert answer.headers["access-control-allow-origin"] == PREFLIGHT["origin"]
    assert "POST" in answer.headers["access-control-allow-methods"]
    allowed = answer.headers["access-control-allow-headers"]
    for name in ("authorization", "content-type", "idempotency-key"):
        assert name in allowed
    assert answer.headers["access-control-max-age"] == "600"
    assert answer.headers["vary"] == "origin"
    assert answer.body == b""
    # RFC 9110, 8.6: a 204 has no Content-Length; without a body there is no type either.
    assert not {"content-length", "content-type"} & answer.headers.keys()


@pytest.mark.parametrize(
    ("path", "missing", "status"),
    [
        ("/v1/nothing", "", 404),
        ("/api/developer/apps", "", 405),
        ("/api/auth/login", "", 405),
        (HEALTH, "origin", 405),
        (HEALTH, "access-control-request-method", 405),
    ],
)
async def test_what_is_no_preflight_is_answered_as_such(
    make: Make, path: str, missing: str, status: int
) -> None:
    """Unknown paths, and routes that no foreign page may call."""
    headers = {name: value for name, value in PREFLIGHT.items() if name != missing}
    answer = await make.anybody.request("OPTIONS", path, headers=headers, status=status)
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_the_portal_is_closed_to_foreign_pages(business: Business) -> None:
    """No origin may read it, whatever the session."""
    api = Api(business.anybody.app, {**business.owner.headers, "origin": "https://evil.com"})
    answer = await api.get("/api/developer/apps", status=200)
    assert not [name for name in answer.headers if name.startswith("access-control")]
