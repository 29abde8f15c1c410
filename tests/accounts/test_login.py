"""Logging in: who gets in, and what the others learn (nothing)."""

import secrets
import time

import asyncpg

from tests.api import Api
from tests.make import PASSWORD, Business, Make
from tillhouse.access.process import Services
from tillhouse.accounts.store import upsert_member
from tillhouse.kit.clock import now

LOGIN = "/api/auth/login"


async def test_the_right_password_opens_a_session_of_its_own(business: Business) -> None:
    """Its token works, and ending it leaves the first one alone."""
    body = {"email": business.email, "password": PASSWORD}
    tokens = (await business.anybody.post(LOGIN, body, status=200)).data
    second = business.anybody.as_bearer(tokens["accessToken"])
    await second.get("/api/auth/me", status=200)
    await second.post("/api/auth/logout", status=200)
    await business.owner.get("/api/auth/me", status=200)


async def test_the_address_is_read_in_any_case(business: Business) -> None:
    """People write it as they like."""
    body = {"email": f" {business.email.upper()}", "password": PASSWORD}
    await business.anybody.post(LOGIN, body, status=200)


async def test_unknown_address_and_wrong_password_read_alike(
    business: Business, make: Make
) -> None:
    """The same status, the same words."""
    api = make.elsewhere()
    wrong = await api.post(
        LOGIN, {"email": business.email, "password": "wrong password"}, status=401
    )
    unknown = await api.post(
        LOGIN, {"email": "nobody@example.com", "password": "wrong password"}, status=401
    )
    assert wrong.error == unknown.error == "unauthorized"
    assert wrong.json["message"] == unknown.json["message"]
    assert wrong.headers.keys() == unknown.headers.keys()


async def _seconds(api: Api, email: str) -> float:
    # Of this process's own work: what else the machine does isn't in it.
    started = time.process_time()
    await api.post(LOGIN, {"email": email, "password": "wrong password"}, status=401)
    return time.process_time() - started


async def test_unknown_address_and_wrong_password_take_alike(make_guarded: Make) -> None:
    """Both hash once; the bound is generous, because machines are shared."""
    known: list[float] = []
    unknown: list[float] = []
    api = make_guarded.elsewhere()
    for _ in range(9):
        # In turn, and the quickest of each counts: what else the machine does makes none quicker.
        known.append(await _seconds(api, (await make_guarded.business()).email))
        unknown.append(await _seconds(api, f"{secrets.token_hex(8)}@example.com"))
    assert 0.4 < min(unknown) / min(known) < 2.5


async def test_a_password_may_have_any_form_but_not_any_length(business: Business) -> None:
    """The rules for new passwords don't bind those who log in; the work stays bounded."""
    for password, status in (("x", 401), ("x" * 256, 401), ("", 422), ("x" * 257, 422)):
        body = {"email": business.email, "password": password}
        await business.anybody.post(LOGIN, body, status=status)


async def test_who_belongs_to_no_business_is_told(
    business: Business, sql: asyncpg.Connection
) -> None:
    """The right password of somebody who was removed: 403, and why."""
    await sql.execute("DELETE FROM members WHERE user_id = $1::text::uuid", business.user_id)
    body = {"email": business.email, "password": PASSWORD}
    answer = await business.anybody.post(LOGIN, body, status=403)
    assert "owner" in answer.json["message"]


async def test_login_opens_the_business_joined_first(make: Make, services: Services) -> None:
    """With several, the others are a switch away."""
    business, other = await make.business(), await make.business()
    async with services.pool.transaction() as db:
        await upsert_member(db, other.id, business.user_id, "cashier", now())
    body = {"email": business.email, "password": PASSWORD}
    assert (await make.anybody.post(LOGIN, body, status=200)).data["businessId"] == business.id
