"""A key that is to do more, or from more places, asks for the password."""

from typing import Any

import pytest

from tests.api import Api
from tests.make import PASSWORD, Business

KEYS = "/api/developer/api-keys"
KEY: dict[str, Any] = {
    "scopes": ["orders:read", "finance:read"],
    "allowed_origins": ["shop.example.com", "*.example.org"],
    "allowed_ip_ranges": ["203.0.113.0/24", "2001:db8::/32"],
}
WIDER: list[dict[str, Any]] = [
    {"scopes": ["orders:read", "finance:read", "orders:write"]},
    {"scopes": ["customers:read"]},
    {"allowed_origins": []},
    {"allowed_origins": ["shop.example.com", "evil.example.net"]},
    {"allowed_ip_ranges": []},
    {"allowed_ip_ranges": ["203.0.112.0/23"]},
    {"allowed_ip_ranges": ["203.0.113.0/24", "198.51.100.7/32"]},
    {"allowed_ip_ranges": ["2001:db9::/32"]},
    {"allowed_ip_ranges": ["0.0.0.0/0"]},
    {"name": "Other", "scopes": ["orders:read", "payment_links:read"]},
]
NO_WIDER: list[dict[str, Any]] = [
    {"name": "Other"},
    {"scopes": ["orders:read"]},
    {"scopes": ["finance:summary:read", "orders:read"]},
    {"allowed_origins": ["shop.example.com"]},
    {"allowed_ip_ranges": ["203.0.113.7", "2001:db8:1::/48"]},
    {"allowed_ip_ranges": ["2001:db8::/32", "203.0.113.0/24"]},
    {"expires_at": "2100-01-31"},
]


async def _unproved(business: Business) -> Api:
    """The owner in a session without a step-up."""
    body = {"email": business.email, "password": PASSWORD}
    tokens = (await business.anybody.post("/api/auth/login", body, status=200)).data
    return business.anybody.as_bearer(tokens["accessToken"])


@pytest.mark.parametrize("change", WIDER)
async def test_widening_a_key_needs_the_password(
    business: Business, change: dict[str, Any]
) -> None:
    """403, and the key is as it was; after a step-up it is changed."""
    key = await business.key(*KEY["scopes"], **{k: v for k, v in KEY.items() if k != "scopes"})
    path = f"{KEYS}/{key['id']}"
    refusal = await (await _unproved(business)).patch(path, change, status=403)
    assert refusal.error == "password_verification_required"
    as_it_was = (await business.owner.get(path, status=200)).data
    assert {name: as_it_was[_camel(name)] for name in KEY} == KEY
    changed = (await business.owner.patch(path, change, status=200)).data
    assert {name: changed[_camel(name)] for name in change} == change


@pytest.mark.parametrize("change", NO_WIDER)
async def test_narrowing_a_key_needs_no_password(
    business: Business, change: dict[str, Any]
) -> None:
    """Somebody who sees a key misused takes its rights away at once."""
    key = await business.key(*KEY["scopes"], **{k: v for k, v in KEY.items() if k != "scopes"})
    await (await _unproved(business)).patch(f"{KEYS}/{key['id']}", change, status=200)


async def test_a_first_list_needs_no_password(business: Business) -> None:
    """A key without lists is good from everywhere: any list is narrower."""
    key = await business.key("orders:read")
    change = {"allowed_ip_ranges": ["0.0.0.0/0"], "allowed_origins": ["shop.example.com"]}
    await (await _unproved(business)).patch(f"{KEYS}/{key['id']}", change, status=200)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
