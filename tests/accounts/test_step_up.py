"""Proving the password again, and what guessing it costs."""

import asyncio

import asyncpg

from tests.api import Api, Response
from tests.make import PASSWORD, Business, Make

LOGIN = "/api/auth/login"
VERIFY = "/api/auth/verify-password"
KEYS = "/api/developer/api-keys"
NEW_KEY = {"name": "Till", "environment": "test", "scopes": ["voice:read"]}


async def age_step_up(sql: asyncpg.Connection, business: Business, seconds: int) -> None:
    """Let the verification lie back."""
    await sql.execute(
        "UPDATE sessions SET password_verified_at = password_verified_at"
        " - make_interval(secs => $2) WHERE business_id = $1::text::uuid",
        business.id,
        seconds,
    )


async def guess(api: Api, email: str, password: str = "wrong password") -> Response:
    """Try to log in."""
    return await api.post(LOGIN, {"email": email, "password": password})


async def test_a_login_is_no_step_up(business: Business) -> None:
    """Neither a registration nor a login opens what needs the password again."""
    answer = await guess(business.anybody, business.email, PASSWORD)
    session = business.anybody.as_bearer(answer.data["accessToken"])
    for api in (business.owner, session):
        refusal = await api.post(KEYS, NEW_KEY, status=403)
        assert refusal.error == "password_verification_required"


async def test_step_up_lasts_a_quarter_of_an_hour(
    business: Business, sql: asyncpg.Connection
) -> None:
    """At 14 minutes it holds, at 15 it is over."""
    await business.step_up()
    await age_step_up(sql, business, 14 * 60 + 50)
    await business.owner.post(KEYS, NEW_KEY, status=201)
    await age_step_up(sql, business, 11)
    await business.owner.post(KEYS, NEW_KEY, status=403)


async def test_step_up_holds_for_its_session_only(business: Business) -> None:
    """Another session of the same person has to prove it itself."""
    await business.step_up()
    answer = await guess(business.anybody, business.email, PASSWORD)
    other = business.anybody.as_bearer(answer.data["accessToken"])
    await other.post(KEYS, NEW_KEY, status=403)


async def test_a_refresh_keeps_the_step_up(business: Business) -> None:
    """It is the same session."""
    await business.step_up()
    body = {"refresh_token": business.tokens["refreshToken"]}
    tokens = (await business.anybody.post("/api/auth/refresh", body, status=200)).data
    await business.anybody.as_bearer(tokens["accessToken"]).post(KEYS, NEW_KEY, status=201)


async def test_a_wrong_password_is_no_step_up(business: Business) -> None:
    """403, and the session goes on as before."""
    answer = await business.owner.post(VERIFY, {"password": "wrong password"}, status=403)
    assert answer.error == "forbidden"
    await business.owner.post(KEYS, NEW_KEY, status=403)
    await business.owner.get("/api/auth/me", status=200)


async def test_the_answer_says_until_when(business: Business) -> None:
    """In fifteen minutes."""
    answer = await business.owner.post(VERIFY, {"password": PASSWORD}, status=200)
    assert answer.data["verifiedUntil"].endswith("Z")


async def test_ten_failures_lock_account_and_network(business: Business) -> None:
    """The eleventh try is 429 even with the right password, and says when to come back."""
    statuses = [(await guess(business.anybody, business.email)).status for _ in range(10)]
    assert statuses == [401] * 10
    answer = await guess(business.anybody, business.email, PASSWORD)
    assert (answer.status, answer.error) == (429, "rate_limit_exceeded")
    assert int(answer.headers["retry-after"]) == 30 * 60


async def test_a_lock_covers_the_neighbourhood_and_nobody_else(
    business: Business, make: Make
) -> None:
    """Other addresses of the /24 are locked too; other networks and accounts are not."""
    for place in range(10):
        await guess(Api(make.app, peer=f"198.51.100.{place}"), business.email)
    near, far = Api(make.app, peer="198.51.100.200"), Api(make.app, peer="198.51.101.1")
    assert (await guess(near, business.email, PASSWORD)).status == 429
    assert (await guess(far, business.email, PASSWORD)).status == 200
    other = await make.business()
    assert (await guess(near, other.email, PASSWORD)).status == 200


async def test_a_lock_in_ipv6_covers_the_64(business: Business, make: Make) -> None:
    """One customer's network, not one address of its many."""
    for place in range(10):
        await guess(Api(make.app, peer=f"2001:db8:0:1::{place}"), business.email)
    near, far = Api(make.app, peer="2001:db8:0:1:f::9"), Api(make.app, peer="2001:db8:0:2::1")
    assert (await guess(near, business.email, PASSWORD)).status == 429
    assert (await guess(far, business.email, PASSWORD)).status == 200


async def test_fifty_guesses_at_once_are_ten(make_guarded: Make) -> None:
    """None is answered before it is counted, so running in parallel wins nothing."""
    business = await make_guarded.business()
    answers = await asyncio.gather(*(guess(business.anybody, business.email) for _ in range(50)))
    statuses = [answer.status for answer in answers]
    assert (statuses.count(401), statuses.count(429)) == (10, 40)


async def test_an_unknown_account_locks_alike(make: Make) -> None:
    """Otherwise the lock would tell who exists."""
    api = make.elsewhere()
    for _ in range(10):
        assert (await guess(api, "nobody-here@example.com")).status == 401
    assert (await guess(api, "nobody-here@example.com")).status == 429


async def test_the_right_password_clears_the_count(business: Business) -> None:
    """Nine mistakes, then right, then nine more: nobody is locked out."""
    for _ in range(2):
        for _ in range(9):
            assert (await guess(business.anybody, business.email)).status == 401
        assert (await guess(business.anybody, business.email, PASSWORD)).status == 200


async def test_a_lock_ends_after_half_an_hour(business: Business, sql: asyncpg.Connection) -> None:
    """Counted from the last failure; then the count begins anew."""
    for _ in range(11):
        await guess(business.anybody, business.email)
    await sql.execute(
        "UPDATE login_failures SET last_failed_at = last_failed_at - interval '29 minutes'"
    )
    assert (await guess(business.anybody, business.email, PASSWORD)).status == 429
    await sql.execute(
        "UPDATE login_failures SET last_failed_at = last_failed_at - interval '2 minutes'"
    )
    assert (await guess(business.anybody, business.email)).status == 401
    assert (await guess(business.anybody, business.email, PASSWORD)).status == 200


async def test_verifying_counts_like_logging_in(business: Business) -> None:
    """A stolen session is no way around the lock."""
    for _ in range(10):
        await business.owner.post(VERIFY, {"password": "wrong password"}, status=403)
    answer = await business.owner.post(VERIFY, {"password": PASSWORD}, status=429)
    assert answer.error == "rate_limit_exceeded"
    assert (await guess(business.anybody, business.email, PASSWORD)).status == 429
