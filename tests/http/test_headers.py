"""Headers that leave open what is meant: given twice, or naming an encoding that isn't read."""

import gzip
import json
import zlib
from typing import Any

import pytest

from tests.api import Api
from tests.make import Business

ORDERS = "/v1/orders"
TEA: dict[str, Any] = {"product_name": "Tea", "quantity": 1, "custom_price": 5}


@pytest.fixture
async def seller(business: Business) -> Api:
    """A key that may record orders."""
    return await business.client("orders:write", "orders:read")


async def test_two_credentials_are_none(business: Business) -> None:
    """Good or bad, equal or not: which of them was meant, nobody can know."""
    good = business.owner.headers["authorization"]
    key = (await business.key("orders:read"))["secret"]
    for second in ("Bearer x", "", good, f"Bearer {key}"):
        for pair in ((good, second), (second, good)):
            headers = {"authorization": pair[0], "Authorization": pair[1]}
            answer = await business.anybody.get("/api/auth/me", headers=headers, status=401)
            assert answer.error == "unauthorized"
            assert "given twice" in answer.json["message"]
            await business.anybody.get(ORDERS, headers=headers, status=401)


async def test_two_idempotency_keys_are_none(seller: Api) -> None:
    """Named, with whatever else is wrong; nothing is recorded."""
    for pair in (("a", "b"), ("a", "a"), ("a", ""), ("a b", "c")):
        headers = {"idempotency-key": pair[0], "Idempotency-Key": pair[1]}
        answer = await seller.post(ORDERS, {"items": [TEA]}, headers=headers, status=422)
        assert answer.json["details"] == [
            {"field": "Idempotency-Key", "message": "is given twice; send one"}
        ]
        answer = await seller.post(ORDERS, {"items": []}, headers=headers, status=422)
        assert answer.wrong_fields == {"Idempotency-Key", "items"}
    assert (await seller.get(ORDERS, status=200)).data == []
    await seller.post(ORDERS, {"items": [TEA]}, headers={"idempotency-key": "a"}, status=201)


async def test_two_environments_are_none(business: Business) -> None:
    """Test and live must not be mixed up."""
    for pair in (("test", "live"), ("live", "test"), ("test", "test")):
        headers = {"service-environment": pair[0], "Service-Environment": pair[1]}
        answer = await business.owner.get(ORDERS, headers=headers, status=422)
        assert answer.wrong_fields == {"Service-Environment"}


async def test_two_content_types_are_none(seller: Api) -> None:
    """As one that isn't known."""
    headers = {"content-type": "text/plain", "Content-Type": "application/json"}
    await seller.post(ORDERS, {"items": [TEA]}, headers=headers, status=415)


PACKED = json.dumps({"items": [TEA]}).encode()


@pytest.mark.parametrize(
    ("named", "raw"),
    [
        ("gzip", gzip.compress(PACKED, mtime=0)),
        ("deflate", zlib.compress(PACKED)),
        ("gzip", PACKED),
        ("br", PACKED),
        ("identity, gzip", PACKED),
        ("x", PACKED),
        ("\xff", PACKED),
    ],
    ids=["gzip", "deflate", "gzip in name", "br", "identity and gzip", "x", "no text"],
)
async def test_a_packed_body_is_told_as_such(seller: Api, named: str, raw: bytes) -> None:
    """415 with a sentence about the encoding, and what would be taken."""
    headers = {"content-encoding": named}
    answer = await seller.post(ORDERS, raw=raw, headers=headers, status=415)
    assert answer.error == "unsupported_media_type"
    assert "Content-Encoding" in answer.json["message"]
    assert answer.headers["accept-encoding"] == "identity"


async def test_a_second_encoding_is_seen(seller: Api) -> None:
    """The header may stand twice: the body was then encoded twice."""
    for pair in (("gzip", "identity"), ("identity", "gzip")):
        headers = {"content-encoding": pair[0], "Content-Encoding": pair[1]}
        await seller.post(ORDERS, raw=PACKED, headers=headers, status=415)


@pytest.mark.parametrize("named", ["identity", "Identity", " identity ", ""])
async def test_a_plain_body_may_say_that_it_is(seller: Api, named: str) -> None:
    """In any case; a request without a body has nothing to be packed."""
    await seller.post(ORDERS, raw=PACKED, headers={"content-encoding": named}, status=201)
    await seller.get(ORDERS, headers={"content-encoding": "gzip"}, status=200)


async def test_another_type_is_told_without_a_word_of_encodings(seller: Api) -> None:
    """Each refusal is about its own header."""
    answer = await seller.post(ORDERS, raw=PACKED, headers={"content-type": "text/a"}, status=415)
    assert "Content-Type" in answer.json["message"]
    assert "accept-encoding" not in answer.headers
