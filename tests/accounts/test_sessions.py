"""Sessions: going on, changing business, ending; changes of role act at once."""

import asyncpg
import pytest

from tests.make import Business, Make
from tillhouse.access.process import Services
from tillhouse.accounts.store import upsert_member
from tillhouse.kit.clock import now

REFRESH = "/api/auth/refresh"
ME = "/api/auth/me"


async def refreshed(business: Business, token: str, status: int = 200) -> dict[str, str]:
    """Exchange a refresh token."""
    answer = await business.anybody.post(REFRESH, {"refresh_token": token}, status=status)
    return answer.data if status == 200 else answer.json


async def age_refresh(sql: asyncpg.Connection, business: Business, seconds: int) -> None:
    """Let the last refresh of the business's sessions lie back."""
    await sql.execute(
        "UPDATE sessions SET refreshed_at = refreshed_at - make_interval(secs => $2) "
        "WHERE business_id = $1::text::uuid",
        business.id,
        seconds,
    )


async def test_a_refresh_gives_new_tokens_of_the_same_session(business: Business) -> None:
    """Both halves are new, both access tokens work, logging out ends both."""
    new = await refreshed(business, business.tokens["refreshToken"])
    assert new["refreshToken"] != business.tokens["refreshToken"]
    api = business.anybody.as_bearer(new["accessToken"])
    await api.get(ME, status=200)
    await api.post("/api/auth/logout", status=200)
    await business.owner.get(ME, status=401)
    await refreshed(business, new["refreshToken"], status=401)


async def test_a_lost_answer_may_be_asked_for_again(
    business: Business, sql: asyncpg.Connection
) -> None:
    """Within 30 seconds the old token still gives a session that works."""
    old = business.tokens["refreshToken"]
    first = await refreshed(business, old)
    await age_refresh(sql, business, 25)
    again = await refreshed(business, old)
    for tokens in (first, again):
        await business.anybody.as_bearer(tokens["accessToken"]).get(ME, status=200)
        await refreshed(business, tokens["refreshToken"])


async def test_a_token_that_returns_late_was_stolen(
    business: Business, sql: asyncpg.Connection
) -> None:
    """After the grace time its return ends the session, for the thief and for the owner."""
    old = business.tokens["refreshToken"]
    new = await refreshed(business, old)
    await age_refresh(sql, business, 31)
    answer = await refreshed(business, old, status=401)
    assert answer["error"] == "unauthorized"
    await business.anybody.as_bearer(new["accessToken"]).get(ME, status=401)
    await refreshed(business, new["refreshToken"], status=401)


@pytest.mark.parametrize("token", ["", "x", "thrt_" + "a" * 43, "\u20ac", "x" * 100_000])
async def test_an_unknown_refresh_token_is_refused(business: Business, token: str) -> None:
    """Any form of it: 401."""
    await refreshed(business, token, status=401)


async def test_an_access_token_does_not_refresh(business: Business) -> None:
    """Nor does a refresh token open anything."""
    await refreshed(business, business.tokens["accessToken"], status=401)
    await business.anybody.as_bearer(business.tokens["refreshToken"]).get(ME, status=401)


async def test_an_expired_session_is_over(business: Business, sql: asyncpg.Connection) -> None:
    """Thirty days after the last refresh nothing of it works."""
    # In whole milliseconds, as the product reads the clock: else this one isn't over yet.
    await sql.execute(
        "UPDATE sessions SET expires_at = date_trunc('milliseconds', now()) "
        "WHERE business_id = $1::text::uuid",
        business.id,
    )
    await business.owner.get(ME, status=401)
    await refreshed(business, business.tokens["refreshToken"], status=401)


async def test_logging_out_acts_at_once(business: Business) -> None:
    """The access token has minutes to live, and is refused all the same."""
    await business.owner.post("/api/auth/logout", status=200)
    await business.owner.get(ME, status=401)
    await business.owner.post("/api/auth/logout", status=401)
    await refreshed(business, business.tokens["refreshToken"], status=401)


async def test_tokens_are_not_stored_as_they_are(
    business: Business, sql: asyncpg.Connection
) -> None:
    """A reader of the database can't continue a session."""
    row = await sql.fetchrow(
        "SELECT sessions::text AS text FROM sessions WHERE business_id = $1::text::uuid",
        business.id,
    )
    assert row is not None
    assert business.tokens["refreshToken"] not in row["text"]
    assert business.tokens["refreshToken"].encode().hex() not in row["text"]


async def test_a_change_of_role_acts_at_once(business: Business, sql: asyncpg.Connection) -> None:
    """The next request of the same token has the new role's permissions."""
    await business.owner.get("/api/developer/apps", status=200)
    change = "UPDATE members SET role = $2 WHERE business_id = $1::text::uuid"
    await sql.execute(change, business.id, "cashier")
    await business.owner.get("/api/developer/apps", status=403)
    me = (await business.owner.get(ME, status=200)).data
    assert (me["role"], me["permissions"]) == ("cashier", [])
    await sql.execute(change, business.id, "developer")
    await business.owner.get("/api/developer/apps", status=200)


async def test_a_removed_member_is_out_at_once(business: Business, sql: asyncpg.Connection) -> None:
    """The token stands for somebody who belongs to nothing."""
    await sql.execute("DELETE FROM members WHERE user_id = $1::text::uuid", business.user_id)
    await business.owner.get(ME, status=401)
    await refreshed(business, business.tokens["refreshToken"], status=401)


async def _with_second(make: Make, services: Services, role: str) -> tuple[Business, Business]:
    first, second = await make.business(), await make.business()
    async with services.pool.transaction() as db:
        await upsert_member(db, second.id, first.user_id, role, now())
    return first, second


async def test_switching_goes_on_in_the_other_business(make: Make, services: Services) -> None:
    """With the role that one has there; the token for the first business ends."""
    first, second = await _with_second(make, services, "developer")
    answer = await first.owner.post("/api/auth/switch", {"business_id": second.id}, status=200)
    assert answer.data["businessId"] == second.id
    there = first.anybody.as_bearer(answer.data["accessToken"])
    me = (await there.get(ME, status=200)).data
    assert (me["businessId"], me["role"], me["userId"]) == (second.id, "developer", first.user_id)
    assert {b["id"] for b in me["businesses"]} == {first.id, second.id}
    apps = (await there.get("/api/developer/apps", status=200)).data
    assert {a["businessId"] for a in apps} == {second.id}
    await first.owner.get(ME, status=401)
    after = await refreshed(first, first.tokens["refreshToken"])
    assert after["businessId"] == second.id


async def test_step_up_does_not_go_along_to_another_business(
    make: Make, services: Services
) -> None:
    """There it has to be given again."""
    first, second = await _with_second(make, services, "owner")
    await first.step_up()
    answer = await first.owner.post("/api/auth/switch", {"business_id": second.id}, status=200)
    there = first.anybody.as_bearer(answer.data["accessToken"])
    body = {"name": "Till", "environment": "test", "scopes": ["voice:read"]}
    refusal = await there.post("/api/developer/api-keys", body, status=403)
    assert refusal.error == "password_verification_required"


async def test_nobody_switches_to_a_business_of_others(make: Make) -> None:
    """It reads as if there were none."""
    first, stranger = await make.business(), await make.business()
    for business_id in (stranger.id, first.user_id):
        body = {"business_id": business_id}
        await first.owner.post("/api/auth/switch", body, status=404)
    await first.owner.get(ME, status=200)
