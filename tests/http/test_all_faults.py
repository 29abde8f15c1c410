"""One refusal names everything: query, headers, the body's form, and what breaks a rule."""

import json
from typing import Any

import pytest

from tests.api import Api, Response
from tests.make import Business

ORDERS = "/v1/orders"
KEYS = "/api/developer/api-keys"
BAD_KEY = {"idempotency-key": "a\tb"}
TEA: dict[str, Any] = {"product_name": "Tea", "quantity": 1, "custom_price": 5}
LONG_AGO = "2020-01-31T10:00:00Z"


@pytest.fixture
async def seller(business: Business) -> Api:
    """A key that may record orders."""
    return await business.client("orders:write", "orders:read")


def named(answer: Response) -> list[str]:
    """The fields that a refusal names, in its order."""
    assert (answer.status, answer.error) == (422, "validation_error"), answer
    return [detail["field"] for detail in answer.json["details"]]


async def test_query_header_form_and_rules_are_told_at_once(seller: Api) -> None:
    """In this order; nothing hides anything else."""
    body = {"items": [], "zz": 1, "scheduled_for": LONG_AGO}
    answer = await seller.post(f"{ORDERS}?x=1&y=2", body, headers=BAD_KEY)
    assert named(answer) == ["x", "y", "Idempotency-Key", "zz", "items", "scheduled_for"]


@pytest.mark.parametrize(
    ("query", "headers", "body", "fields"),
    [
        ("?x=1", {}, {"items": [TEA]}, {"x"}),
        ("", BAD_KEY, {"items": [TEA]}, {"Idempotency-Key"}),
        ("?x=1", BAD_KEY, {"items": [TEA]}, {"x", "Idempotency-Key"}),
        ("", BAD_KEY, {"items": []}, {"items", "Idempotency-Key"}),
        ("?x=1", {}, {"items": [TEA], "scheduled_for": LONG_AGO}, {"x", "scheduled_for"}),
        ("", BAD_KEY, {"items": [TEA], "scheduled_for": LONG_AGO},
         {"Idempotency-Key", "scheduled_for"}),
        ("?x=1", {}, [], {"x", "body"}),
    ],
)  # fmt: skip
async def test_any_of_them_goes_with_any_other(
    seller: Api, query: str, headers: dict[str, str], body: Any, fields: set[str]
) -> None:
    """Each by itself, in pairs, and a body that is right but for a rule."""
    answer = await seller.post(ORDERS + query, body, headers=headers)
    assert set(named(answer)) == fields
    assert (await seller.get(ORDERS, status=200)).data == []


async def test_an_unknown_environment_is_named_with_the_rest(business: Business) -> None:
    """The caller is known and may call; the book isn't known, so no rule is asked."""
    wrong = {"service-environment": "staging"}
    body = {"items": [], "scheduled_for": LONG_AGO}
    answer = await business.owner.post(f"{ORDERS}?x=1", body, headers={**wrong, **BAD_KEY})
    assert set(named(answer)) == {"Service-Environment", "x", "Idempotency-Key", "items"}
    answer = await business.owner.get(f"{ORDERS}?page=0", headers=wrong)
    assert set(named(answer)) == {"Service-Environment", "page"}
    answer = await business.owner.post(ORDERS, {"items": [TEA]}, headers=wrong)
    assert named(answer) == ["Service-Environment"]
    for environment in ("test", "live"):
        there = {"service-environment": environment}
        assert (await business.owner.get(ORDERS, headers=there, status=200)).data == []


async def test_every_unstorable_text_is_named(seller: Api) -> None:
    """With what else is wrong; rules look at the rest and never at such a text."""
    item = {**TEA, "product_name": "Te\x00a"}
    body = {"items": [item], "notes": "a\ud800", "customer_name": "b\x7f", "zz": 1,
            "scheduled_for": LONG_AGO}  # fmt: skip
    answer = await seller.post(ORDERS, raw=json.dumps(body).encode())
    assert set(named(answer)) == {
        "zz", "items[0].product_name", "notes", "customer_name", "scheduled_for",
    }  # fmt: skip
    messages = {d["field"]: d["message"] for d in answer.json["details"]}
    assert messages["notes"] == "holds a control character or half a surrogate"
    answer = await seller.post(ORDERS, raw=b'{"items":[],"a\\u0000":1,"\\ud800":{"b":1}}')
    assert set(named(answer)) == {"body", "items"}


async def test_control_characters_hide_no_other_parameter(seller: Api) -> None:
    """Each parameter is judged by itself."""
    answer = await seller.get(f"{ORDERS}?search=%00&page=x&zz=1&limit=5")
    assert set(named(answer)) == {"search", "page", "zz"}


async def test_who_may_not_hears_nothing_of_the_content(business: Business, make: Any) -> None:
    """401, 403 and 404 come before anything is read."""
    worst: dict[str, Any] = {"headers": BAD_KEY}
    answer = await business.owner.post(f"{KEYS}?x=1", {}, status=403, **worst)
    assert answer.error == "password_verification_required"
    await make.anybody.post(f"{ORDERS}?x=1", {"zz": 1}, status=401, **worst)
    poor = await business.client("voice:read")
    await poor.post(f"{ORDERS}?x=1", {"zz": 1}, status=403, **worst)
    nowhere = {"service-environment": "staging"}
    await poor.post(f"{ORDERS}?x=1", {"zz": 1}, headers=nowhere, status=403)
    await business.owner.get(f"{ORDERS}/5?x=1", headers=nowhere, status=404)


async def test_a_body_that_can_not_be_read_is_told_as_such(seller: Api) -> None:
    """Nothing can be said of its fields."""
    await seller.post(f"{ORDERS}?x=1", raw=b"{", headers=BAD_KEY, status=400)
    text = {"content-type": "text/plain", **BAD_KEY}
    await seller.post(f"{ORDERS}?x=1", raw=b"{}", headers=text, status=415)
