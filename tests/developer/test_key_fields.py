"""The values that each field of a key may hold, at creation and at a change."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.make import Business, Make
from tillhouse.kit.clock import iso, now

KEYS = "/api/developer/api-keys"
OUT = "wallet:withdrawals:create"
GOOD: dict[str, Any] = {"name": "Till", "environment": "test", "scopes": ["voice:read"]}

# Wrong values by field, and where in the field the fault is.
WRONG: dict[str, list[tuple[Any, str]]] = {
    "name": [
        ("A", "name"),
        ("x" * 121, "name"),
        ("two\nlines", "name"),
        (None, "name"),
        (5, "name"),
    ],
    "environment": [
        ("staging", "environment"),
        ("Test", "environment"),
        (None, "environment"),
    ],
    "scopes": [
        ([], "scopes"),
        (None, "scopes"),
        ("voice:read", "scopes"),
        (["voice:read", "voice:nothing"], "scopes[1]"),
        (["*"], "scopes[0]"),
        (["voice:read"] * 101, "scopes"),
        ([None], "scopes[0]"),
    ],
    "developer_app_id": [
        ("x", "developer_app_id"),
        (5, "developer_app_id"),
        (str(uuid4()), "developer_app_id"),
    ],
    "allowed_origins": [
        ("shop.example.com", "allowed_origins"),
        (["https://shop.example.com/path"], "allowed_origins[0]"),
        (["*"], "allowed_origins[0]"),
        (["a.example.com", "b example"], "allowed_origins[1]"),
        (["*.com"], "allowed_origins[0]"),
        (["null"], "allowed_origins[0]"),
        (["a.example.com"] * 101, "allowed_origins"),
    ],
    "allowed_ip_ranges": [
        ("10.0.0.0/8", "allowed_ip_ranges"),
        (["10.0.0.0/33"], "allowed_ip_ranges[0]"),
        (["10.0.0.1/8"], "allowed_ip_ranges[0]"),
        (["10.0.0.0/8", "localhost"], "allowed_ip_ranges[1]"),
        (["10.0.0.0/255.0.0.0"], "allowed_ip_ranges[0]"),
        ([10], "allowed_ip_ranges[0]"),
    ],
    "expires_at": [
        ("tomorrow", "expires_at"),
        ("2020-01-01", "expires_at"),
        ("2027-02-30", "expires_at"),
        ("2027-01-31T10:00:00", "expires_at"),
        (1_900_000_000, "expires_at"),
    ],
    "withdrawal_policy": [
        ([], "withdrawal_policy"),
        ({"surprise": 1}, "withdrawal_policy.surprise"),
    ],
}


@pytest.mark.parametrize("field", WRONG)
async def test_a_wrong_field_is_named(business: Business, field: str) -> None:
    """422 that names it alone, and there is no key."""
    await business.step_up()
    for value, named in WRONG[field]:
        answer = await business.owner.post(KEYS, {**GOOD, field: value}, status=422)
        assert answer.error == "validation_error"
        assert named in answer.wrong_fields
        assert {name.split("[")[0].split(".")[0] for name in answer.wrong_fields} == {field}
    assert (await business.owner.get(KEYS, status=200)).data == []


@pytest.mark.parametrize("field", sorted(WRONG.keys() - {"developer_app_id", "environment"}))
async def test_a_wrong_change_is_named(business: Business, field: str) -> None:
    """The same rules hold for a change, and the key stays as it was."""
    key = await business.key()
    path = f"{KEYS}/{key['id']}"
    for value, named in WRONG[field]:
        answer = await business.owner.patch(path, {field: value}, status=422)
        assert named in answer.wrong_fields
    shown = (await business.owner.get(path, status=200)).data
    assert shown.items() <= key.items()


async def test_required_fields_are_named_at_once(business: Business) -> None:
    """Name, environment and scopes."""
    await business.step_up()
    answer = await business.owner.post(KEYS, {}, status=422)
    assert answer.wrong_fields == {"name", "environment", "scopes"}


async def test_all_wrong_fields_are_named_at_once(business: Business) -> None:
    """However deep they lie."""
    await business.step_up()
    body = {
        "name": "A",
        "environment": "staging",
        "scopes": ["voice:read", "x", "y"],
        "developer_app_id": 5,
        "allowed_origins": ["*"],
        "allowed_ip_ranges": ["x"],
        "expires_at": "soon",
        "withdrawal_policy": {"max_per_day": "5,00", "currency": "XX"},
        "scope": "x",
    }
    answer = await business.owner.post(KEYS, body, status=422)
    assert answer.wrong_fields == {
        "name", "environment", "scopes[1]", "scopes[2]", "developer_app_id", "allowed_origins[0]",
        "allowed_ip_ranges[0]", "expires_at", "withdrawal_policy.max_per_day",
        "withdrawal_policy.currency", "withdrawal_policy.max_per_transaction", "scope",
    }  # fmt: skip


async def test_all_broken_rules_are_named_at_once(business: Business) -> None:
    """Rules that look at the business or at other fields as well."""
    await business.step_up()
    body = {
        "name": "Till",
        "environment": "live",
        "scopes": ["payouts:write", OUT],
        "developer_app_id": str(uuid4()),
        "expires_at": "2020-01-01",
    }
    answer = await business.owner.post(KEYS, body, status=422)
    assert answer.wrong_fields == {
        "allowed_ip_ranges", "withdrawal_policy", "expires_at", "developer_app_id",
    }  # fmt: skip


async def test_wrong_fields_and_broken_rules_are_named_together(business: Business) -> None:
    """A name that is too short doesn't hide an expiry that is past."""
    await business.step_up()
    body = {**GOOD, "name": "A", "expires_at": "2020-01-01"}
    answer = await business.owner.post(KEYS, body, status=422)
    assert answer.wrong_fields == {"name", "expires_at"}


async def test_rules_are_silent_about_what_they_cannot_know(business: Business) -> None:
    """A rule that rests on a wrong field says nothing; the others say all."""
    await business.step_up()
    policy = {"max_per_transaction": "+5", "max_per_day": 0, "currency": "XXX"}
    body = {
        "name": "Till",
        "environment": "staging",
        "scopes": ["payouts:write", OUT],
        "developer_app_id": str(uuid4()),
        "withdrawal_policy": policy,
        "nmae": "Till",
    }
    answer = await business.owner.post(KEYS, body, status=422)
    wrong = "withdrawal_policy."
    assert answer.wrong_fields == {
        "environment", "nmae", wrong + "max_per_transaction", wrong + "max_per_day",
        wrong + "currency",
    }  # fmt: skip


async def test_a_change_names_all_that_is_wrong_too(business: Business) -> None:
    """PATCH gathers as POST does; a key that isn't there leaves the form's own errors."""
    await business.step_up()
    key = (await business.owner.post(KEYS, GOOD, status=201)).data
    body = {"name": "A", "expires_at": "2020-01-01", "scopes": [OUT]}
    answer = await business.owner.patch(f"{KEYS}/{key['id']}", body, status=422)
    assert answer.wrong_fields == {"name", "expires_at", "withdrawal_policy"}
    answer = await business.owner.patch(f"{KEYS}/{uuid4()}", body, status=422)
    assert answer.wrong_fields == {"name"}


async def test_a_key_is_made_in_an_app_of_its_own_environment(
    business: Business, make: Make
) -> None:
    """An app of the other environment or of another business: 422 that names the field."""
    await business.step_up()
    stranger = await make.business()
    own = (await business.owner.get("/api/developer/apps", status=200)).data
    foreign = (await stranger.owner.get("/api/developer/apps", status=200)).data
    [live] = [app["id"] for app in own if app["environment"] == "live"]
    for app_id in (live, *(app["id"] for app in foreign)):
        body = {**GOOD, "developer_app_id": app_id}
        answer = await business.owner.post(KEYS, body, status=422)
        assert answer.wrong_fields == {"developer_app_id"}


async def test_lists_are_kept_in_one_form_without_repetitions(business: Business) -> None:
    """Ranges and origins as they will be compared."""
    key = await business.key(
        "voice:read",
        "orders:read",
        "voice:read",
        allowed_origins=["Shop.Example.com", "https://shop.example.com:443/", "shop.example.com"],
        allowed_ip_ranges=["203.0.113.7", "2001:DB8::/32", "203.0.113.7/32", "::ffff:10.0.0.1"],
    )
    assert key["scopes"] == ["voice:read", "orders:read"]
    assert key["allowedOrigins"] == ["shop.example.com", "https://shop.example.com"]
    assert key["allowedIpRanges"] == ["203.0.113.7/32", "2001:db8::/32", "10.0.0.1/32"]


async def test_a_change_changes_what_it_names(business: Business) -> None:
    """The rest stays, and the change holds on the next request."""
    key = await business.key("voice:read", name="Till")
    path = f"{KEYS}/{key['id']}"
    changes = {
        "name": "Kiosk",
        "scopes": ["orders:read"],
        "allowed_origins": ["shop.example.com"],
        "allowed_ip_ranges": ["127.0.0.0/8"],
        "expires_at": "2199-01-31",
    }
    for field, value in changes.items():
        changed = (await business.owner.patch(path, {field: value}, status=200)).data
        assert {k for k in changed if changed[k] != key[k]} - {"updatedAt"} == {_camel(field)}
        key = changed
    assert key["scopes"] == ["orders:read"]
    assert key["expiresAt"] == "2199-01-31T23:59:59.999Z"
    cleared = await business.owner.patch(path, {"expires_at": None}, status=200)
    assert cleared.data["expiresAt"] is None


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


@pytest.mark.parametrize("field", ["developer_app_id", "environment", "status", "public_key"])
async def test_some_fields_never_change(business: Business, field: str) -> None:
    """The app and the environment are what the key is bound to."""
    key = await business.key()
    body = {field: key[_camel(field)]}
    answer = await business.owner.patch(f"{KEYS}/{key['id']}", body, status=422)
    assert answer.wrong_fields == {field}


@pytest.mark.parametrize("scope", ["payouts:write", OUT])
async def test_a_live_key_that_moves_money_out_names_its_addresses(
    business: Business, scope: str
) -> None:
    """At creation and at every change; a test key is free of it, and so are payment links."""
    policy = {"max_per_transaction": 5, "max_per_day": 5, "currency": "USD"}
    body = {**GOOD, "scopes": [scope], "withdrawal_policy": policy}
    await business.step_up()
    for ranges in ({}, {"allowed_ip_ranges": []}, {"allowed_ip_ranges": None}):
        live = {**body, "environment": "live", **ranges}
        answer = await business.owner.post(KEYS, live, status=422)
        assert answer.wrong_fields == {"allowed_ip_ranges"}
    await business.owner.post(KEYS, body, status=201)
    live = {**body, "environment": "live", "allowed_ip_ranges": ["203.0.113.0/24"]}
    key = (await business.owner.post(KEYS, live, status=201)).data
    path = f"{KEYS}/{key['id']}"
    answer = await business.owner.patch(path, {"allowed_ip_ranges": []}, status=422)
    assert answer.wrong_fields == {"allowed_ip_ranges"}
    await business.key("payment_links:write", environment="live")
    plain = await business.key("voice:read", environment="live")
    change = {"scopes": [scope], "withdrawal_policy": policy}
    answer = await business.owner.patch(f"{KEYS}/{plain['id']}", change, status=422)
    assert answer.wrong_fields == {"allowed_ip_ranges"}


async def test_an_expiry_date_is_the_end_of_that_day_where_the_business_is(make: Make) -> None:
    """A timestamp is the moment that it says."""
    business = await make.business(time_zone="Africa/Lagos")
    key = await business.key(expires_at="2199-01-31")
    assert key["expiresAt"] == "2199-01-31T22:59:59.999Z"
    key = await business.key(expires_at="2199-01-31T10:00:00+01:00")
    assert key["expiresAt"] == "2199-01-31T09:00:00.000Z"


async def test_today_is_no_past_date(make: Make) -> None:
    """It is over at midnight of the business, even in the earliest zone."""
    business = await make.business(time_zone="Etc/GMT+12")
    # In its last minute, the day that comes: this one may be over before the request is there.
    today = (now() - timedelta(hours=12) + timedelta(minutes=1)).date().isoformat()
    assert (await business.key(expires_at=today))["status"] == "active"
    body = {**GOOD, "expires_at": iso(now() - timedelta(seconds=1))}
    answer = await business.owner.post(KEYS, body, status=422)
    assert answer.wrong_fields == {"expires_at"}
