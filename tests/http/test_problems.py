"""Refusals: which statuses and codes there are, and what goes with them."""

import json

from tests.make import Make
from tillhouse.http.problems import envelope, headers_of, internal_error, known_codes, status_of
from tillhouse.kit.errors import (
    Invalid,
    Limited,
    Missing,
    Unauthenticated,
    Unavailable,
    WrongMethod,
)

# The codes that the edge may answer; features add none of their own so far.
DECIDED = {
    (400, "request_failed"),
    (401, "unauthorized"),
    (403, "forbidden"),
    (403, "subscription_required"),
    (403, "password_verification_required"),
    (404, "not_found"),
    (405, "method_not_allowed"),
    (409, "request_failed"),
    (409, "limit_reached"),
    (409, "idempotency_in_progress"),
    (413, "payload_too_large"),
    (415, "unsupported_media_type"),
    (422, "validation_error"),
    (422, "idempotency_key_reused"),
    (429, "rate_limit_exceeded"),
    (500, "internal_error"),
    (503, "unavailable"),
}


def test_every_decided_code_exists() -> None:
    """With its status."""
    assert set(known_codes()) >= DECIDED


def test_headers_go_with_their_refusal() -> None:
    """Retry-After in whole seconds, at least one; Allow; WWW-Authenticate."""
    assert headers_of(Limited(0.01)) == [(b"retry-after", b"1")]
    assert headers_of(Limited(1.2)) == [(b"retry-after", b"2")]
    assert headers_of(Unavailable(retry_after_s=3)) == [(b"retry-after", b"3")]
    assert headers_of(WrongMethod(["GET", "POST"])) == [(b"allow", b"GET, POST")]
    assert dict(headers_of(Unauthenticated()))[b"www-authenticate"].startswith(b"Bearer")
    assert headers_of(Missing()) == []


def test_the_envelope_names_fields_only_when_there_are_any() -> None:
    """{error, message, details?, requestId}."""
    assert json.loads(envelope(Missing(), "id")) == {
        "error": "not_found",
        "message": Missing().message,
        "requestId": "id",
    }
    body = json.loads(envelope(Invalid.field("items[0].quantity", "is required"), "id"))
    assert body["details"] == [{"field": "items[0].quantity", "message": "is required"}]
    assert status_of(Invalid()) == 422


def test_a_defect_tells_nothing_but_its_id() -> None:
    """The cause is in the log."""
    body = json.loads(internal_error("id"))
    assert (body["error"], body["requestId"], len(body)) == ("internal_error", "id", 3)


async def test_odd_headers_are_no_defect(make: Make) -> None:
    """Bytes that are no text, empty ones, long ones: an answer like any other."""
    for name in ("authorization", "origin", "x-forwarded-for", "idempotency-key", "content-type",
                 "content-length", "x-request-id", "service-environment", "cookie"):  # fmt: skip
        for value in ("", " ", "\xff\xfe", "x" * 60_000, "\x00", ",", '"', "null"):
            headers = {name: value}
            for method, path in (("GET", "/v1/voice/health"), ("POST", "/api/auth/refresh")):
                answer = await make.anybody.request(method, path, {}, headers=headers)
                assert 400 <= answer.status < 500, (name, value, answer)
                assert answer.json["requestId"]


async def test_odd_paths_are_no_defect(make: Make) -> None:
    """Any path that a server may hand over."""
    for path in ("", "//", "*", "/\x00", "/\udcff", "/v1/../api", "/v1/voice/health\n", "/é",
                 "/" + "a/" * 20_000, "/api/developer/api-keys/\ud800"):  # fmt: skip
        answer = await make.anybody.get(path)
        assert answer.status in (401, 404), (path, answer)
