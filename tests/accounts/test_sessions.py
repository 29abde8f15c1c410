"""Sessions: going on, changing business, ending; changes of role act at once."""

import asyncio

import asyncpg
import pytest

from tests.make import PASSWORD, Business, Make
from tillhouse.access.process import Services
from tillhouse.accounts.store import upsert_member
from tillhouse.kit.clock import now
from tillhouse.kit.secrets import digest

REFRESH = "/api/auth/refresh"
ME = "/api/auth/me"
SESSIONS = "/api/auth/sessions"


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
    """Within 30 seconds the old token gives the same successor, in the same session."""
    old = business.tokens["refreshToken"]
    first = await refreshed(business, old)
    await age_refresh(sql, business, 25)
    answers = [await refreshed(business, old) for _ in range(4)]
    assert {answer["refreshToken"] for answer in answers} == {first["refreshToken"]}
    assert await _sessions(business) == 1
    await business.anybody.as_bearer(answers[-1]["accessToken"]).get(ME, status=200)
    await refreshed(business, first["refreshToken"])


async def test_refreshes_at_once_have_one_successor(business: Business) -> None:
    """Twenty at the same moment are one: the same token, one session, one step on."""
    old = business.tokens["refreshToken"]
    answers = await asyncio.gather(*(refreshed(business, old) for _ in range(20)))
    [new] = {answer["refreshToken"] for answer in answers}
    assert await _sessions(business) == 1
    await refreshed(business, new)


async def test_a_token_that_returns_late_was_stolen(
    business: Business, sql: asyncpg.Connection
) -> None:
    """After the grace time its return ends the session, for the thief and for the owner."""
    old = business.tokens["refreshToken"]
    new = await refreshed(business, old)
    await age_refresh(sql, business, 31)
    answer = await refreshed(business, old, status=401)
    assert answer["error"] == "unauthorized"
    await _is_over(business, new)


@pytest.mark.parametrize("spent", [0, 1, 5])
async def test_any_spent_token_ends_the_session(business: Business, spent: int) -> None:
    """However many refreshes ago, and however short: only the last one has a grace time."""
    tokens = [business.tokens]
    for _ in range(7):
        tokens.append(await refreshed(business, tokens[-1]["refreshToken"]))
    await refreshed(business, tokens[spent]["refreshToken"], status=401)
    await _is_over(business, tokens[-1])


async def test_a_forged_token_ends_nothing(business: Business) -> None:
    """To name a session and a generation takes the installation's key."""
    token = business.tokens["refreshToken"]
    new = await refreshed(business, token)
    changed = [
        token[:-1] + ("0" if token[-1] != "0" else "1"),
        token.replace("00000001", "00000000", 1),
        token.replace("00000001", "00000007", 1),
        token.upper(),
        token + "0",
    ]
    for forged in changed:
        await refreshed(business, forged, status=401)
    await refreshed(business, new["refreshToken"])


async def test_a_token_from_before_generations_goes_on(
    business: Business, services: Services, sql: asyncpg.Connection
) -> None:
    """The present one is exchanged, the one before ends the session, whatever came between."""
    own, previous = "thrt_" + "a" * 43, "thrt_" + "b" * 43
    await sql.execute(
        "UPDATE sessions SET refresh_generation = 0, refresh_digest = $2, "
        "previous_refresh_digest = $3 WHERE business_id = $1::text::uuid",
        business.id,
        digest(services.vault.pepper, own),
        digest(services.vault.pepper, previous),
    )
    new = await refreshed(business, own)
    again = await refreshed(business, own)
    assert again["refreshToken"] == new["refreshToken"]
    await refreshed(business, previous, status=401)
    await _is_over(business, new)


async def _sessions(business: Business) -> int:
    return len((await business.owner.get(SESSIONS, status=200)).data)


async def _is_over(business: Business, tokens: dict[str, str]) -> None:
    await business.anybody.as_bearer(tokens["accessToken"]).get(ME, status=401)
    await refreshed(business, tokens["refreshToken"], status=401)


async def _second(business: Business) -> dict[str, str]:
    body = {"email": business.email, "password": PASSWORD}
    return (await business.anybody.post("/api/auth/login", body, status=200)).data


async def test_sessions_are_listed(business: Business, make: Make) -> None:
    """One's own that stand, the one used last first, and which of them this is."""
    await _second(await make.business())
    second = await _second(business)
    ended = await _second(business)
    await business.anybody.as_bearer(ended["accessToken"]).post("/api/auth/logout", status=200)
    listed = (await business.owner.get(SESSIONS, status=200)).data
    assert [one["isCurrent"] for one in listed] == [False, True]
    assert {one["businessId"] for one in listed} == {business.id}
    assert listed[0]["ipAddress"] == "127.0.0.1"
    other = business.anybody.as_bearer(second["accessToken"])
    listed = (await other.get(SESSIONS, status=200)).data
    assert [one["isCurrent"] for one in listed] == [True, False]


async def test_one_session_is_ended(business: Business, make: Make) -> None:
    """At once, with both its tokens; a stranger's, an ended one and nonsense are 404."""
    second = await _second(business)
    [newest, own] = (await business.owner.get(SESSIONS, status=200)).data
    stranger = await make.business()
    await stranger.owner.delete(f"{SESSIONS}/{newest['id']}", status=404)
    await business.owner.delete(f"{SESSIONS}/{newest['id']}", status=200)
    await _is_over(business, second)
    await business.owner.delete(f"{SESSIONS}/{newest['id']}", status=404)
    await business.owner.delete(f"{SESSIONS}/{own['id']}", status=200)
    await business.owner.get(ME, status=401)


async def test_all_other_sessions_are_ended(business: Business, make: Make) -> None:
    """This one goes on, as do those of others."""
    stranger = await make.business()
    others = [await _second(business) for _ in range(3)]
    answer = await business.owner.post(f"{SESSIONS}/end-others", status=200)
    assert answer.data == {"endedSessions": 3}
    for tokens in others:
        await _is_over(business, tokens)
    await business.owner.get(ME, status=200)
    await stranger.owner.get(ME, status=200)


async def test_a_refresh_beside_the_end_of_its_session_saves_nothing(business: Business) -> None:
    """Whichever comes first, nothing of the other session works afterwards."""
    for _ in range(10):
        second = await _second(business)
        refresh = business.anybody.post(REFRESH, {"refresh_token": second["refreshToken"]})
        answer, _ = await asyncio.gather(
            refresh, business.owner.post(f"{SESSIONS}/end-others", status=200)
        )
        await _is_over(business, answer.data if answer.status == 200 else second)


async def test_a_person_has_so_many_sessions(business: Business, sql: asyncpg.Connection) -> None:
    """The two hundred and first makes the one refreshed longest ago go."""
    await sql.execute(
        """
        INSERT INTO sessions (id, user_id, business_id, refreshed_at, created_at, expires_at,
            ip_address, network)
        SELECT gen_random_uuid(), user_id, business_id, refreshed_at + n * interval '1 s',
            created_at, expires_at, ip_address, network
        FROM sessions, generate_series(1, 199) n WHERE business_id = $1::text::uuid
        """,
        business.id,
    )
    assert await _sessions(business) == 200
    second = await _second(business)
    await business.owner.get(ME, status=401)
    other = business.anybody.as_bearer(second["accessToken"])
    assert len((await other.get(SESSIONS, status=200)).data) == 200


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
