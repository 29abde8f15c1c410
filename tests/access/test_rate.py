"""The rate limit: exact, told in headers, one bucket per key."""

import asyncio
import time

import asyncpg

from tests.access.conftest import started
from tests.api import Api, Response
from tests.make import Business
from tests.waiting import within
from tillhouse.app import App

HEALTH = "/v1/voice/health"
RATE, BURST = 20, 30


async def secret_of(business: Business) -> str:
    """A key's secret."""
    return (await business.key("voice:read"))["secret"]


async def fire(apps: list[App], secret: str, count: int) -> tuple[list[Response], float]:
    """So many requests at once, spread over applications, and how long they took."""
    apis = [Api(app).as_bearer(secret) for app in apps]
    begun = time.perf_counter()
    sent = (apis[n % len(apis)].get(HEALTH) for n in range(count))
    answers = await asyncio.gather(*sent)
    return list(answers), time.perf_counter() - begun


def passed(answers: list[Response]) -> int:
    """How many were let in; all others must be 429."""
    assert {answer.status for answer in answers} <= {200, 429}
    return sum(answer.status == 200 for answer in answers)


async def rest(sql: asyncpg.Connection, business: Business, seconds: float) -> None:
    """Let time pass for the buckets of a business."""
    await sql.execute(
        "UPDATE rate_cells c SET full_at = full_at - $2::float8 FROM books b "
        "WHERE b.id = c.book_id AND b.business_id = $1::text::uuid",
        business.id,
        seconds,
    )


async def test_a_burst_passes_and_not_one_more(business: Business, limited: App) -> None:
    """Of a hundred at once thirty, and what flowed in meanwhile."""
    answers, took_s = await fire([limited], await secret_of(business), 100)
    assert BURST <= passed(answers) <= BURST + took_s * RATE + 1


async def test_what_flows_back_passes_again(
    business: Business, limited: App, sql: asyncpg.Connection
) -> None:
    """Twenty a second, never more than a burst."""
    secret = await secret_of(business)
    for seconds, expected in ((0.5, 10), (1.0, 20), (3600.0, BURST)):
        begun = time.perf_counter()
        await fire([limited], secret, 100)
        await rest(sql, business, seconds)
        answers, _ = await fire([limited], secret, 100)
        meanwhile = (time.perf_counter() - begun) * RATE
        assert expected - 1 <= passed(answers) <= expected + meanwhile + 2, seconds


async def test_several_processes_share_one_bucket(
    business: Business, limited: App, database_url: str, master_key: str
) -> None:
    """The count lives in the database, so two applications let through what one would."""
    environ = {"RATE_LIMIT": str(RATE), "RATE_BURST": str(BURST)}
    async with started(database_url, master_key, **environ) as other:
        answers, took_s = await fire([limited, other], await secret_of(business), 100)
    assert BURST <= passed(answers) <= BURST + took_s * RATE + 1


async def test_every_key_has_its_own_bucket(business: Business, limited: App) -> None:
    """A busy key slows no other."""
    busy, quiet = await secret_of(business), await secret_of(business)
    await fire([limited], busy, 50)
    assert passed((await fire([limited], quiet, BURST))[0]) == BURST


async def test_headers_tell_what_is_left(business: Business, limited: App) -> None:
    """Counting down with every request, in the form of the IETF draft."""
    api = Api(limited).as_bearer(await secret_of(business))
    begun = time.perf_counter()
    for count in range(1, 9):
        answer = await api.get(HEALTH, status=200)
        # The refill meanwhile: nothing, unless something else kept the machine busy.
        meanwhile = int((time.perf_counter() - begun) * RATE)
        name, left, _ = answer.headers["ratelimit"].split(";")
        assert (name, left[:2]) == ('"default"', "r=")
        assert BURST - count <= int(left[2:]) <= min(BURST - 1, BURST - count + meanwhile)
    assert answer.headers["ratelimit-policy"] == f'"default";q={BURST};w=2'


async def test_a_refusal_says_when_to_come_back(business: Business, limited: App) -> None:
    """429 rate_limit_exceeded with Retry-After, and nothing left."""
    secret, refused = await secret_of(business), list[Response]()
    async with within():
        while not refused:
            answers, _ = await fire([limited], secret, 60)
            refused = [answer for answer in answers if answer.status == 429]
    refusal = refused[0]
    assert refusal.error == "rate_limit_exceeded"
    assert 1 <= int(refusal.headers["retry-after"]) <= 2
    assert ";r=0;" in refusal.headers["ratelimit"]


async def test_people_are_not_limited_by_the_rate_of_keys(business: Business, limited: App) -> None:
    """The dashboard asks often, and each of its requests is a person's."""
    api = Api(limited, business.owner.headers)
    answers = await asyncio.gather(*(api.get("/api/auth/me") for _ in range(BURST + 20)))
    assert {answer.status for answer in answers} == {200}
    assert "ratelimit" not in answers[0].headers


async def test_without_a_limit_there_are_no_headers(business: Business, app: App) -> None:
    """0 switches it off."""
    answers, _ = await fire([app], await secret_of(business), 60)
    assert passed(answers) == 60
    assert "ratelimit" not in answers[0].headers


async def test_unknown_keys_have_no_bucket(limited: App, business: Business) -> None:
    """They are 401 however often they come, and leave no row."""
    key = await business.key("voice:read")
    await business.owner.post(f"/api/developer/api-keys/{key['id']}/revoke", status=200)
    api = Api(limited).as_bearer(key["secret"])
    answers = await asyncio.gather(*(api.get(HEALTH) for _ in range(BURST + 20)))
    assert {answer.status for answer in answers} == {401}
