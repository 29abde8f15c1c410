"""Providers are connected with secrets that nobody sees again."""

from collections.abc import AsyncIterator
from random import Random
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.api import Api
from tests.conftest import settings_with
from tests.make import PASSWORD, Business, Make
from tests.payins.collecting import Collecting
from tests.providers.payments.simulators.paystack import PaystackSimulator
from tillhouse.access.callers import Book
from tillhouse.app import App
from tillhouse.kit.clock import now
from tillhouse.payins.connections import (
    Collects,
    NoProvider,
    ProvidersAway,
    choose_provider,
    find_provider,
)

PATH = "/v1/payment-providers"
LIVE = {"service-environment": "live"}
SECRET = "sk_live_5f2c1b7e9a0d4c3e8b6a7f1d2e3c4b5a"
PAYSTACK: dict[str, Any] = {"provider": "paystack", "secrets": {"secret_key": SECRET}}
FLUTTERWAVE: dict[str, Any] = {
    "provider": "flutterwave",
    "secrets": {"secret_key": "FLWSECK-5f2c1b7e9a0d4c3e", "secret_hash": "a-word"},
}


@pytest.fixture
async def owner(business: Business) -> Api:
    """The owner, who proved the password a moment ago, in the live book."""
    await business.step_up()
    return business.owner


async def put(owner: Api, body: dict[str, Any], status: int = 200) -> Any:
    """Change a provider of the live book."""
    answer = await owner.request("PUT", PATH, body, headers=LIVE, status=status)
    return answer.data if status == 200 else answer


async def live(sql: asyncpg.Connection, business: Business) -> Book:
    """The live book."""
    query = "SELECT id FROM books WHERE business_id = $1 AND environment = 'live'"
    return Book(await sql.fetchval(query, UUID(business.id)), "live")


async def test_a_test_book_has_the_sandbox_alone(business: Business) -> None:
    """Nothing can be connected there."""
    test = {"service-environment": "test"}
    (shown,) = (await business.owner.get(PATH, headers=test, status=200)).data
    assert (shown["provider"], shown["status"], shown["selected"]) == ("sandbox", "connected", True)
    answer = await business.owner.request("PUT", PATH, PAYSTACK, headers=test, status=422)
    assert "provider" in answer.wrong_fields


async def test_secrets_are_sealed_and_shown_by_nobody(
    owner: Api, business: Business, sql: asyncpg.Connection
) -> None:
    """Neither by an answer, nor in the database, nor in the audit log."""
    shown = await put(owner, PAYSTACK)
    assert (shown["status"], shown["selected"], shown["hint"]) == ("connected", True, "…4b5a")
    book = await live(sql, business)
    assert shown["hookUrl"].endswith(f"/hooks/paystack/{book.id}")
    listed = await owner.get(PATH, headers=LIVE, status=200)
    assert {one["provider"]: one["status"] for one in listed.data}["paystack"] == "connected"
    assert SECRET.encode() not in listed.body
    query = "SELECT credentials_sealed FROM payment_providers WHERE book_id = $1"
    assert SECRET.encode() not in await sql.fetchval(query, book.id)
    query = "SELECT count(*) FROM audit_events WHERE business_id = $1 AND metadata::text ~ $2"
    assert await sql.fetchval(query, UUID(business.id), SECRET) == 0
    query = "SELECT count(*) FROM audit_events WHERE business_id = $1 AND event_type ~ 'provider'"
    assert await sql.fetchval(query, UUID(business.id)) == 1


async def test_secrets_that_are_missing_or_strange_are_named(owner: Api) -> None:
    """So is a provider that nobody has connected."""
    wrong = {**FLUTTERWAVE, "secrets": {"secret_key": SECRET, "colour": "red"}}
    answer = await put(owner, wrong, 422)
    assert answer.wrong_fields == {"secrets.secret_hash", "secrets.colour"}
    assert "provider" in (await put(owner, {"provider": "sandbox"}, 422)).wrong_fields
    assert (await put(owner, {"provider": "paystack", "selected": True}, 400)).error


async def test_a_live_book_takes_no_test_keys(owner: Api) -> None:
    """Money that a vendor only pretends to have would be money of the wallet."""
    tests_own = {"provider": "paystack", "secrets": {"secret_key": SECRET.replace("live", "test")}}
    answer = await put(owner, tests_own, status=422)
    assert answer.wrong_fields == {"secrets.secret_key"}
    monnify = dict.fromkeys(("secret_key", "contract_code", "wallet_account"), "5f2c1b7e9a0d4c3e")
    others = {
        "flutterwave": (
            {**FLUTTERWAVE["secrets"], "secret_key": "FLWSECK_TEST-5f2c"},
            "secret_key",
        ),
        "monnify": ({**monnify, "api_key": "MK_TEST_5F2C1B7E9A"}, "api_key"),
        "stripe": (
            {"secret_key": "rk_test_5f2c", "webhook_secret": "whsec_5f2c1b7e9a0d4c3e8b6a7f1d2e3c"},
            "secret_key",
        ),
    }
    for provider, (secrets, name) in others.items():
        answer = await put(owner, {"provider": provider, "secrets": secrets}, status=422)
        assert answer.wrong_fields == {f"secrets.{name}"}, provider


SHORT: list[tuple[str, dict[str, str], set[str]]] = [
    ("paystack", {"secret_key": "s"}, {"secrets.secret_key"}),
    ("paystack", {"secret_key": "sk_live_5f2c"}, {"secrets.secret_key"}),
    ("flutterwave", {"secret_key": "F", "secret_hash": "h"},
     {"secrets.secret_key", "secrets.secret_hash"}),
    ("monnify", dict.fromkeys(("api_key", "secret_key", "contract_code", "wallet_account"), "m"),
     {"secrets.api_key", "secrets.secret_key", "secrets.contract_code", "secrets.wallet_account"}),
    ("stripe", {"secret_key": "s", "webhook_secret": "w"},
     {"secrets.secret_key", "secrets.webhook_secret"}),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "secrets", "named"), SHORT)
async def test_a_secret_that_is_too_short_is_named(
    owner: Api, provider: str, secrets: dict[str, str], named: set[str]
) -> None:
    """A secret of one character is a slip of whoever copied it."""
    answer = await put(owner, {"provider": provider, "secrets": secrets}, status=422)
    assert answer.wrong_fields == named


async def test_a_live_book_is_changed_by_people_after_a_step_up(
    owner: Api, business: Business
) -> None:
    """A key gets 403 for every change, and so does a session that was left open."""
    await put(owner, PAYSTACK)
    ranges = ["127.0.0.1"]
    scope = "payment_providers:write"
    key = await business.client(scope, environment="live", allowed_ip_ranges=ranges)
    changes: list[dict[str, Any]] = [
        PAYSTACK,
        {"provider": "paystack", "selected": False},
        {"provider": "paystack", "secrets": None},
        {"provider": "paystack", "check": True},
    ]
    body = {"email": business.email, "password": PASSWORD}
    token = (await business.anybody.post("/api/auth/login", body, status=200)).data
    left_open = business.anybody.as_bearer(token["accessToken"])
    for change in changes:
        answer = await key.request("PUT", PATH, change, status=403)
        assert (answer.error, "people" in answer.json["message"]) == ("forbidden", True)
        answer = await put(left_open, change, 403)
        assert answer.error == "password_verification_required"
    listed = (await key.get(PATH, status=200)).data
    assert {one["provider"] for one in listed if one["selected"]} == {"paystack"}


async def test_secrets_need_a_password_of_a_moment_ago(business: Business) -> None:
    """A session that was left open connects nothing."""
    answer = await put(business.owner, PAYSTACK, 403)
    assert answer.error == "password_verification_required"


async def test_what_is_selected_collects(
    owner: Api, business: Business, sql: asyncpg.Connection, till: Collecting
) -> None:
    """One of several at random, the same for the same seed; none that is down."""
    services, book = till.services, await live(sql, business)
    await put(owner, PAYSTACK)
    await put(owner, FLUTTERWAVE)

    async def chosen(seed: int) -> str:
        async with services.pool.reading() as db:
            rng = Random(seed)  # noqa: S311 - no secret
            found = await choose_provider(services, db, book, Collects(currency="NGN"), rng)
        return found.provider.name

    assert {await chosen(seed) for seed in range(20)} == {"paystack", "flutterwave"}
    assert [await chosen(7) for _ in range(5)] == [await chosen(7)] * 5
    down = "UPDATE payment_providers SET down_until = $2 WHERE book_id = $1 AND provider = $3"
    hour = now().replace(year=now().year + 1)
    await sql.execute(down, book.id, hour, "paystack")
    assert {await chosen(seed) for seed in range(20)} == {"flutterwave"}
    await sql.execute(down, book.id, hour, "flutterwave")
    with pytest.raises(ProvidersAway):
        await chosen(1)
    await put(owner, {"provider": "paystack", "selected": False})
    await put(owner, {"provider": "flutterwave", "secrets": None})
    with pytest.raises(NoProvider):
        await chosen(1)
    async with services.pool.reading() as db:
        found = await find_provider(services, db, book, "paystack")
        assert found.credentials.secrets == {"secret_key": SECRET}
        with pytest.raises(NoProvider):
            await find_provider(services, db, book, "flutterwave")


@pytest.fixture
async def paystack() -> AsyncIterator[PaystackSimulator]:
    """Paystack, in this process."""
    simulator = PaystackSimulator()
    await simulator.start()
    yield simulator
    await simulator.stop()


async def test_secrets_are_checked_before_anything_changes(
    database_url: str, master_key: str, paystack: PaystackSimulator
) -> None:
    """A provider that refuses them, or doesn't answer, leaves all as it was."""
    app = App(
        settings_with(PROVIDER_URLS=f"paystack={paystack.base_url}"), database_url, master_key
    )
    await app.start()
    try:
        business = await (await Make(app, app.services).business()).step_up()
        refused = await put(business.owner, {**PAYSTACK, "check": True}, 400)
        assert "paystack" in refused.json["message"]
        listed = (await business.owner.get(PATH, headers=LIVE, status=200)).data
        assert {one["status"] for one in listed} == {"disconnected"}
        await paystack.stop()
        await put(business.owner, {**PAYSTACK, "check": True}, 503)
    finally:
        await app.stop()
