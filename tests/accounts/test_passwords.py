"""Changing passwords: what it takes, what ends with it; and what may be one."""

import asyncio
import unicodedata
from uuid import UUID

import asyncpg
import pytest

from tests.api import Api, Response
from tests.make import PASSWORD, Business, Make
from tillhouse.access.process import Services
from tillhouse.access.store.attempts import is_known_network

CHANGE = "/api/auth/change-password"
LOGIN = "/api/auth/login"
NEW = "seven green bicycles"
KEYS = "/api/developer/api-keys"


async def change(api: Api, current: str = PASSWORD, new: str = NEW) -> Response:
    """Change a password."""
    return await api.post(CHANGE, {"current_password": current, "new_password": new})


async def log_in(business: Business, password: str) -> Response:
    """Log in."""
    return await business.anybody.post(LOGIN, {"email": business.email, "password": password})


async def test_a_password_is_changed(business: Business) -> None:
    """The new one logs in, the old one doesn't; other sessions end, this one goes on."""
    other = business.anybody.as_bearer((await log_in(business, PASSWORD)).data["accessToken"])
    answer = await change(business.owner)
    assert (answer.status, answer.data["endedSessions"]) == (200, 1)
    await other.get("/api/auth/me", status=401)
    await business.owner.get("/api/auth/me", status=200)
    assert (await log_in(business, PASSWORD)).status == 401
    assert (await log_in(business, NEW)).status == 200


async def test_a_change_is_noted_and_ends_the_step_up(business: Business) -> None:
    """In the audit log of each business; what needs the password needs the new one."""
    await business.step_up()
    assert (await change(business.owner)).status == 200
    events = (await business.owner.get("/api/developer/events", status=200)).data
    assert events[0]["eventType"] == "user.password_changed"
    body = {"name": "Till", "environment": "test", "scopes": ["voice:read"]}
    await business.owner.post(KEYS, body, status=403)


async def test_a_change_needs_the_current_password(business: Business) -> None:
    """Ten wrong ones lock it like logins; nothing ends."""
    other = business.anybody.as_bearer((await log_in(business, PASSWORD)).data["accessToken"])
    for _ in range(10):
        assert (await change(business.owner, "wrong password")).status == 403
    assert (await change(business.owner)).status == 429
    await other.get("/api/auth/me", status=200)


async def test_of_two_changes_at_once_one_wins(make_guarded: Make) -> None:
    """Both knew the old one; the second to write no longer does."""
    business = await make_guarded.business()
    news = [f"{NEW} {number}" for number in range(6)]
    answers = await asyncio.gather(*(change(business.owner, new=new) for new in news))
    statuses = [answer.status for answer in answers]
    assert sorted(statuses) == [200, 403, 403, 403, 403, 403]
    won = news[statuses.index(200)]
    assert (await log_in(business, won)).status == 200


async def test_a_login_with_the_old_password_leaves_no_session(make_guarded: Make) -> None:
    """Judged before the change, or inserted before it: afterwards only one session stands."""
    business = await make_guarded.business()
    old = PASSWORD
    for number in range(5):
        new = f"{NEW} {number}"
        logins = [log_in(business, old) for _ in range(6)]
        answer, *others = await asyncio.gather(change(business.owner, old, new), *logins)
        assert answer.status == 200
        assert {one.status for one in others} <= {200, 401}
        listed = (await business.owner.get("/api/auth/sessions", status=200)).data
        assert [one["isCurrent"] for one in listed] == [True]
        old = new


async def test_the_own_address_and_names_are_no_passwords(make: Make) -> None:
    """Nor with digits and signs around them; the field is named."""
    business = await make.business(name="Adaeze Okafor", business_name="Mama Put Kitchen")
    local = business.email.partition("@")[0]
    for new in (business.email, business.email.upper(), f"{local}!", "Adaeze Okafor 1990"):
        answer = await change(business.owner, new=new)
        assert (answer.status, answer.wrong_fields) == (422, {"new_password"}), new
    body = {
        "name": "Adaeze Okafor",
        "email": "adaeze.okafor@example.com",
        "business_name": "Mama Put Kitchen",
    }
    for password in ("adaeze.okafor", "mama-put-kitchen", "12 Adaeze Okafor"):
        body["password"] = password
        answer = await make.anybody.post("/api/auth/register", body, status=422)
        assert answer.wrong_fields == {"password"}


COMPOSED = unicodedata.normalize("NFC", "crème brûlée à gogo")
APART = unicodedata.normalize("NFD", COMPOSED)


@pytest.mark.parametrize(("set_as", "given_as"), [(COMPOSED, APART), (APART, COMPOSED)])
async def test_accents_may_be_typed_either_way(make: Make, set_as: str, given_as: str) -> None:
    """One keyboard composes, another doesn't."""
    business = await make.business(password=set_as)
    assert (await log_in(business, given_as)).status == 200


async def test_a_hash_of_another_spelling_goes_on_and_is_renewed(
    business: Business, services: Services, sql: asyncpg.Connection
) -> None:
    """A password from before spellings were made one logs in as typed; from then on, either way."""
    hashed = await services.passwords.hash(APART)
    update = "UPDATE users SET password_hash = $2 WHERE email = $1"
    await sql.execute(update, business.email, hashed)
    assert (await log_in(business, COMPOSED)).status == 401
    assert (await log_in(business, APART)).status == 200
    assert (await log_in(business, COMPOSED)).status == 200
    await business.owner.get("/api/auth/me", status=200)


async def test_an_old_short_password_still_logs_in(
    business: Business, services: Services, sql: asyncpg.Connection
) -> None:
    """The rules are for what is chosen from now on."""
    hashed = await services.passwords.hash("short7!")
    update = "UPDATE users SET password_hash = $2 WHERE email = $1"
    await sql.execute(update, business.email, hashed)
    assert (await log_in(business, "short7!")).status == 200


async def test_nobodys_password_opens_no_account_without_one(
    business: Business, sql: asyncpg.Connection
) -> None:
    """The hash that stands in for a missing one is no account's."""
    await sql.execute("UPDATE users SET password_hash = '' WHERE email = $1", business.email)
    assert (await log_in(business, "nobody's password")).status == 401


async def test_a_network_of_the_old_password_is_a_new_one(
    business: Business, make: Make, services: Services, sql: asyncpg.Connection
) -> None:
    """A thief who logged in with it is no better than a stranger once it is changed."""
    body = {"email": business.email, "password": PASSWORD}
    await make.elsewhere().post(LOGIN, body, status=200)
    user_id = UUID(business.user_id)
    networks = await sql.fetch("SELECT network FROM sessions WHERE user_id = $1", user_id)

    async def known() -> list[bool]:
        async with services.pool.transaction() as db:
            return [await is_known_network(db, user_id, row["network"]) for row in networks]

    assert await known() == [True, True]
    await change(business.owner)
    assert await known() == [False, False]
    await log_in(business, NEW)
    assert sorted(await known()) == [False, True]
