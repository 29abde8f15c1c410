"""JSON, bodies and queries: nothing but a Problem comes out, and every wrong field is named."""

import json
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tillhouse.accounts.types import NewAccount
from tillhouse.app import PRODUCT, ROUTES
from tillhouse.developer.types import EventFilter, KeyPatch, NewKey, UsageFilter
from tillhouse.http.endpoint import RouteHandler
from tillhouse.http.fields import ERRORS_MAX, parse, parse_query
from tillhouse.http.wire import CONTAINERS_MAX, DEPTH_MAX, decode
from tillhouse.kit.errors import Invalid, Malformed, Problem

SOON = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
BODIES = [NewAccount, NewKey, KeyPatch]
LISTS = PRODUCT.declared.lists
BODY_TYPES = list({repr(e): e for e in (RouteHandler(r).body_type for r in ROUTES)}.values())
NAMES = sorted({f for t in (*BODY_TYPES, EventFilter, UsageFilter) for f in t.__struct_fields__})

numbers = st.integers() | st.decimals(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | st.text() | st.sampled_from(NAMES) | numbers
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text() | st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=20,
)


def plain(value: object) -> object:
    """JSON has no decimals of its own."""
    return float(value) if isinstance(value, Decimal) else str(value)


def mistakes(read: Callable[[Any, Any], Any], value: object, type_: Any) -> list[str]:
    """The fields that a refusal names, at least one; none when the value is read."""
    try:
        read(value, type_)
    except Invalid as problem:
        named = [detail.field for detail in problem.details or []]
        return named or pytest.fail("a refusal names its fields")
    return []


@SOON
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace")))
def test_any_bytes_decode_or_are_refused(body: bytes) -> None:
    """Nothing else can happen to bytes from outside."""
    with suppress(Malformed, Invalid):
        decode(body)


@SOON
@given(values)
def test_any_json_is_a_body_or_refused(value: object) -> None:
    """For every type of body."""
    try:
        decoded = decode(json.dumps(value, default=plain).encode())
    except Problem:
        return
    for type_ in BODY_TYPES:
        assert len(mistakes(parse, decoded, type_)) <= ERRORS_MAX


RIGHT: dict[str, Any] = {
    "name": "Till",
    "environment": "test",
    "scopes": ["voice:read"],
    "developer_app_id": "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e",
    "allowed_origins": ["shop.example.com"],
    "allowed_ip_ranges": ["10.0.0.0/8"],
    "expires_at": "2199-01-01",
    "withdrawal_policy": {"max_per_transaction": 1, "max_per_day": 1, "currency": "USD"},
}
WRONG: dict[str, list[tuple[Any, str]]] = {
    "name": [("A", "name"), (5, "name"), ([], "name")],
    "environment": [("x", "environment"), ({}, "environment")],
    "scopes": [([], "scopes"), (["x"], "scopes[0]"), (["voice:read", 1], "scopes[1]")],
    "developer_app_id": [("x", "developer_app_id"), (1, "developer_app_id")],
    "allowed_origins": [("x", "allowed_origins"), (["*"], "allowed_origins[0]")],
    "allowed_ip_ranges": [(["x"], "allowed_ip_ranges[0]")],
    "expires_at": [("x", "expires_at")],
    "withdrawal_policy": [
        ({}, "withdrawal_policy."),
        (5, "withdrawal_policy"),
        ({**RIGHT["withdrawal_policy"], "x": 1}, "withdrawal_policy.x"),
        ({**RIGHT["withdrawal_policy"], "max_per_day": "1e1"}, "withdrawal_policy.max_per_day"),
    ],
}
_POLICY = {f"withdrawal_policy.{name}" for name in RIGHT["withdrawal_policy"]}


@SOON
@given(st.data())
def test_exactly_the_wrong_fields_are_named(data: st.DataObject) -> None:
    """However many there are, and no right one."""
    chosen = data.draw(st.sets(st.sampled_from(sorted(WRONG)), min_size=1))
    unknown = data.draw(st.sets(st.sampled_from(["x", "scope", "Name", "é"])))
    missing = data.draw(st.sets(st.sampled_from(["name", "environment", "scopes"]))) - chosen
    body, named = {n: v for n, v in RIGHT.items() if n not in missing}, missing | unknown
    for field in chosen:
        value, place = data.draw(st.sampled_from(WRONG[field]))
        body[field] = value
        named = named | (_POLICY if place.endswith(".") else {place})
    with pytest.raises(Invalid) as caught:
        parse({**body, **dict.fromkeys(unknown, 1)}, NewKey, LISTS)
    fields = [detail.field for detail in caught.value.details or []]
    assert set(fields) == named
    assert len(fields) == len(named)


def test_a_right_body_passes() -> None:
    """With everything that it may hold."""
    key = parse(RIGHT, NewKey, LISTS)
    assert key.developer_app_id == UUID(RIGHT["developer_app_id"])
    assert key.withdrawal_policy.max_per_day == 1


def test_a_near_miss_is_told_the_right_name() -> None:
    """Most unknown fields are typing errors."""
    with pytest.raises(Invalid) as caught:
        parse({**RIGHT, "scope": ["voice:read"]}, NewKey, LISTS)
    [detail] = caught.value.details or []
    assert (detail.field, "did you mean scopes?" in detail.message) == ("scope", True)


def test_thousands_of_mistakes_are_told_a_hundred_times() -> None:
    """Nobody reads more, and the answer stays small."""
    with pytest.raises(Invalid) as caught:
        parse({f"field {n}": 1 for n in range(5000)}, NewKey, LISTS)
    assert len(caught.value.details or []) == ERRORS_MAX


@pytest.mark.parametrize("value", ["x", 5, None, True, [], [RIGHT]])
def test_a_body_is_an_object(value: object) -> None:
    """Anything else is named as the body."""
    with pytest.raises(Invalid) as caught:
        parse(value, NewKey, LISTS)
    assert [detail.field for detail in caught.value.details or []] == ["body"]


def test_numbers_are_exact() -> None:
    """No cent is lost on the way in."""
    assert decode(b'{"a":0.1,"b":1e2,"c":12345678901234567890.12}') == {
        "a": Decimal("0.1"),
        "b": Decimal(100),
        "c": Decimal("12345678901234567890.12"),
    }
    assert str(decode(b"1.10")) == "1.10"


def test_depth_and_number_of_containers_have_a_limit() -> None:
    """Up to it is fine, one more is not."""
    assert decode(b"[" * DEPTH_MAX + b"]" * DEPTH_MAX)
    with pytest.raises(Malformed, match="nests deeper"):
        decode(b"[" * (DEPTH_MAX + 1) + b"]" * (DEPTH_MAX + 1))
    assert len(decode(b"[" + b"[]," * (CONTAINERS_MAX - 2) + b"[]]")) == CONTAINERS_MAX - 1
    with pytest.raises(Malformed, match="lists and objects"):
        decode(b"[" + b"[]," * (CONTAINERS_MAX - 1) + b"[]]")


def test_brackets_in_texts_are_no_depth() -> None:
    """A note may hold as many as it likes."""
    text = "[{" * 500
    assert decode(json.dumps({"notes": text}).encode()) == {"notes": text}


@pytest.mark.parametrize("text", ["\U0001f600", "é", "\u00a0", "\t", "a\nb", "\u2028", "%", "\\u"])
def test_ordinary_text_of_every_script_passes(text: str) -> None:
    """Escaped or raw."""
    for ascii_only in (True, False):
        assert decode(json.dumps({"a": text}, ensure_ascii=ascii_only).encode()) == {"a": text}


@SOON
@given(st.binary(max_size=100) | st.text(max_size=50).map(lambda t: quote(t, safe="&=%+").encode()))
def test_any_query_is_read_or_refused(query: bytes) -> None:
    """By every route that takes one."""
    for type_ in (EventFilter, UsageFilter):
        mistakes(parse_query, query, type_)


@SOON
@given(st.dictionaries(st.sampled_from(NAMES) | st.text(), st.text(), max_size=8))
def test_every_unknown_parameter_is_named(query: dict[str, str]) -> None:
    """Together with every known one whose value is wrong."""
    known = set(EventFilter.__struct_fields__)
    with pytest.raises(Invalid) as caught:
        parse_query(urlencode({**query, "surprise": "", "page": "x"}).encode(), EventFilter)
    named = {detail.field for detail in caught.value.details or []}
    unfit = any(_holds_control(name + value) for name, value in query.items())
    assert unfit or named >= {n[:100] for n in query.keys() - known} | {"surprise", "page"}


def _holds_control(text: str) -> bool:
    return any((ord(c) < 32 and c not in "\t\n\r") or 127 <= ord(c) <= 159 for c in text)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        (b"page=1&page=1", "page"),
        (b"page=1&page=x&page=2", "page"),
        (b"page=%00", "page"),
        (b"event_type=a%00b", "event_type"),
        (b"event_type=%ff", "query"),
        (b"event_type=%ed%a0%80", "query"),
        (b"\xff=1", "query"),
        (b"&".join([b"page=1"] * 101), "query"),
        (b"x" * 5000, "x" * 100),
        (b"page", "page"),
        (b"page=null", "page"),
        (b"api_key_id=null", "api_key_id"),
        (b"api_key_id=NULL", "api_key_id"),
        (b"page=1.0", "page"),
        (b"page=1e0", "page"),
        (b"page=true", "page"),
        (b"page=" + "\u0661".encode(), "query"),
        (b"page=%D9%A1", "page"),
    ],
)
def test_a_wrong_parameter_is_named(query: bytes, named: str) -> None:
    """Text is what a query holds, and no text means null."""
    with pytest.raises(Invalid) as caught:
        parse_query(query, EventFilter)
    assert {detail.field for detail in caught.value.details or []} == {named}


def test_a_right_query_passes() -> None:
    """Values become what their type says; what is absent has its default."""
    found = parse_query(b"per_page=100&event_type=a+b%2Bc&start_date=2026-01-31&", EventFilter)
    assert (found.page, found.per_page, found.event_type) == (1, 100, "a b+c")
    assert parse_query(b"", UsageFilter).days == 30
