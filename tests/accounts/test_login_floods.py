"""Floods of logins: the owner with the right password gets in, and the guesser gets no further."""

import asyncio
import secrets
import threading
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID

import asyncpg
import msgspec
import pytest

from tests.api import Api
from tests.conftest import SETTINGS, running
from tests.make import PASSWORD, Business, Make
from tests.waiting import ended, within
from tillhouse.access import attempt_rules as rules
from tillhouse.access.attempts import clear, let_in
from tillhouse.access.hash_queue import Asker
from tillhouse.access.process import Services
from tillhouse.app import App
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Limited, Unavailable
from tillhouse.kit.secrets import digest

pytestmark = pytest.mark.proof

LOGIN = "/api/auth/login"


def somebody() -> str:
    """An address that nobody has registered."""
    return f"{secrets.token_hex(8)}@example.com"


async def log_in(api: Api, email: str, password: str = PASSWORD) -> int:
    """Log in; the status."""
    return (await api.post(LOGIN, {"email": email, "password": password})).status


async def guess(api: Api, email: str) -> int:
    """Log in with a wrong password; the status."""
    return await log_in(api, email, "wrong password")


async def fill(services: Services, subject: str, budget: rules.Budget, used: int) -> None:
    """Let a cell stand as after so many attempts at once."""
    async with services.pool.transaction() as db:
        await db.execute(
            "INSERT INTO attempt_cells VALUES ($1, $2) "
            "ON CONFLICT (subject) DO UPDATE SET full_at = excluded.full_at",
            digest(services.vault.pepper, subject),
            now() + budget.every * used,
        )


@pytest.fixture
def app(guarded: App) -> App:
    """A flood is one by what each of its guesses costs."""
    return guarded


@pytest.fixture
async def full_queue(services: Services) -> AsyncIterator[asyncio.Event]:
    """Both threads busy and every place taken, until the event is set."""
    go_on, let_go = threading.Event(), asyncio.Event()
    askers = [Asker(f"full {number}", b"full %d" % number) for number in range(258)]
    queue = services.passwords.queue
    runs = [asyncio.create_task(queue.run(asker, go_on.wait)) for asker in askers]
    await asyncio.sleep(0)

    async def release() -> None:
        await let_go.wait()
        go_on.set()

    releasing = asyncio.create_task(release())
    yield let_go
    let_go.set()
    await releasing
    await asyncio.gather(*runs, return_exceptions=True)


async def test_right_passwords_at_once_all_open_sessions(business: Business, make: Make) -> None:
    """A right password under way is no wrong one, however many are."""
    api = make.elsewhere()
    statuses = await asyncio.gather(*(log_in(api, business.email) for _ in range(30)))
    assert Counter(statuses) == {200: 30}


async def test_right_passwords_beside_wrong_ones_open_sessions(
    business: Business, make: Make
) -> None:
    """Nine wrong ones lock nothing, whatever else is under way in the same network."""
    api = make.elsewhere()
    right = [log_in(api, business.email) for _ in range(15)]
    wrong = [guess(api, business.email) for _ in range(9)]
    statuses = await asyncio.gather(*right, *wrong)
    assert Counter(statuses) == {200: 15, 401: 9}


async def test_a_guess_that_is_right_too_late_is_not_told(
    business: Business, make: Make, services: Services
) -> None:
    """Let in before the tenth wrong one was judged, and judged after it: it reads like another."""
    api = make.elsewhere()
    late = await let_in(services, api.peer, business.email, UUID(business.user_id))
    statuses = await asyncio.gather(*(guess(api, business.email) for _ in range(50)))
    assert Counter(statuses) == {401: 10, 429: 40}
    async with services.pool.transaction() as db:
        with pytest.raises(Limited):
            await clear(db, late)


async def test_a_flood_from_one_network_keeps_nobody_out(business: Business, make: Make) -> None:
    """Eighty guessers of one network fill their own share; the owner gets in, each time."""
    flood, own, new = make.elsewhere(), make.anybody, make.elsewhere()
    is_over = False

    async def flood_on() -> Counter[int]:
        heard: Counter[int] = Counter()
        while not is_over:
            heard[await guess(flood, somebody())] += 1
            await asyncio.sleep(0)
        return heard

    began = now()
    guessers = [asyncio.create_task(flood_on()) for _ in range(80)]
    statuses = [await log_in(api, business.email) for _ in range(15) for api in (own, new)]
    is_over = True
    heard = sum(await ended(_all(guessers)), Counter[int]())
    assert set(statuses) == {200}
    # The network guesses its budget, with the few that come back meanwhile, and no more.
    budget, passed = rules.WRONG_FROM_NETWORK, now() - began
    assert heard[401] <= budget.burst + passed / budget.every + 1


async def _all(tasks: list[asyncio.Task[Counter[int]]]) -> list[Counter[int]]:
    return await asyncio.gather(*tasks)


async def test_a_refusal_of_the_queue_costs_no_attempt(
    business: Business, make: Make, full_queue: asyncio.Event, sql: asyncpg.Connection
) -> None:
    """An attempt that nobody judged is not counted, with a right password or a wrong one."""
    api = make.elsewhere()
    before = await sql.fetchval("SELECT count(*) FROM login_failures")
    statuses = [await guess(api, business.email) for _ in range(12)]
    full_queue.set()
    assert set(statuses) == {503}
    assert await sql.fetchval("SELECT count(*) FROM login_failures") == before
    status = 503
    async with within():
        # The queue empties in its own time.
        while status == 503:
            status = await log_in(api, business.email)
    assert status == 200


async def test_known_networks_wait_in_a_line_of_their_own(
    business: Business, full_queue: asyncio.Event, make: Make
) -> None:
    """Strangers who fill every place keep out strangers only."""
    mine = asyncio.create_task(log_in(make.anybody, business.email))
    assert await log_in(make.elsewhere(), business.email) == 503
    full_queue.set()
    assert await ended(mine) == 200


async def test_a_newcomer_takes_the_last_place_of_the_longest_line(services: Services) -> None:
    """Four networks have filled the queue; a fifth gets in, and one of theirs goes."""
    go_on, queue = threading.Event(), services.passwords.queue
    runs = [
        asyncio.create_task(queue.run(Asker(f"crowd {n % 4}", b"%d" % (n % 8)), go_on.wait))
        for n in range(258)
    ]
    await asyncio.sleep(0)
    newcomer = asyncio.create_task(queue.run(Asker("newcomer", b"new"), go_on.wait))
    await asyncio.sleep(0)
    go_on.set()
    assert await ended(newcomer)
    results = await asyncio.gather(*runs, return_exceptions=True)
    assert [type(one) for one in results if one is not True] == [Unavailable]


async def test_networks_have_their_turns(services: Services) -> None:
    """Behind sixty of one network, the first of another is the next but one."""
    go_on, queue, done = threading.Event(), services.passwords.queue, list[str]()

    async def run(network: str) -> None:
        await queue.run(Asker(network, network.encode()), go_on.wait)
        done.append(network)

    runs = [asyncio.create_task(run("crowd")) for _ in range(42)]
    await asyncio.sleep(0)
    runs.append(asyncio.create_task(run("newcomer")))
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(*runs)
    assert done.index("newcomer") < 10


async def test_a_wait_that_is_given_up_frees_its_place(services: Services) -> None:
    """A cancelled wait leaves, and the threads go on to the next."""
    go_on, queue = threading.Event(), services.passwords.queue
    runs = [asyncio.create_task(queue.run(Asker("one", b"one"), go_on.wait)) for _ in range(40)]
    await asyncio.sleep(0)
    for run in runs[2:]:
        run.cancel()
    go_on.set()
    await asyncio.gather(*runs, return_exceptions=True)
    assert await ended(queue.run(Asker("two", b"two"), go_on.wait))


async def test_guessers_in_many_networks_slow_each_other_down(
    business: Business, make: Make
) -> None:
    """After twenty failures anywhere a new network waits, the owner's own doesn't."""
    for _ in range(21):
        assert await guess(make.elsewhere(), business.email) == 401
    order: list[str] = []

    async def come(name: str, api: Api) -> int:
        status = await log_in(api, business.email)
        order.append(name)
        return status

    # The delay is half a second at least, in which the owner logs in at home, and again.
    new = asyncio.create_task(come("new", make.elsewhere()))
    assert [await come("own", make.anybody) for _ in range(3)] == [200, 200, 200]
    assert await ended(new) == 200
    assert order == ["own", "own", "own", "new"]


async def test_a_delay_holds_no_turn_of_the_business(
    business: Business, make: Make, services: Services
) -> None:
    """Somebody with a stolen token tries passwords: the business goes on meanwhile."""
    await fill(services, f"login {business.email}", rules.WRONG_FOR_ACCOUNT, 30)
    verifying = ("/api/auth/verify-password", {"password": "wrong password"})
    changing = (
        "/api/auth/change-password",
        {"current_password": "wrong password", "new_password": "another long phrase"},
    )
    token = business.tokens["accessToken"]
    thieves = [
        asyncio.create_task(make.elsewhere().as_bearer(token).post(*request))
        for request in (verifying, changing) * 40
    ]
    async with within():
        # As many writes as a business may have of a process, alone.
        while services.passwords.queue._delayed._count < 56:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    stay = business.owner.post("/api/auth/switch", {"business_id": business.id}, status=200)
    own = asyncio.create_task(stay)
    first, _ = await asyncio.wait({own, *thieves}, return_when=asyncio.FIRST_COMPLETED)
    assert first == {own}
    for thief in thieves:
        thief.cancel()
    await asyncio.gather(*thieves, return_exceptions=True)


async def test_the_delay_is_never_a_lock(business: Business, services: Services) -> None:
    """However many failures there were, it stays some seconds, and ends by itself."""
    budget, moment = rules.WRONG_FOR_ACCOUNT, now()
    assert budget.delay_s(moment + budget.most * 10, moment) == rules.DELAY_MAX_S
    assert budget.delay_s(moment + budget.every * (budget.burst - 1), moment) == 0
    delays = [budget.delay_s(moment + budget.every * n, moment) for n in range(19, 27)]
    assert delays == [0, 0.5, 1, 2, 4, 8, 8, 8]


async def test_an_unknown_account_is_slowed_down_alike(make: Make, services: Services) -> None:
    """Otherwise the delay would tell who exists."""
    email = somebody()
    for _ in range(21):
        await guess(make.elsewhere(), email)
    cell = await _full_at(services, f"login {email}")
    assert rules.WRONG_FOR_ACCOUNT.delay_s(cell, now()) > 0


async def _full_at(services: Services, subject: str) -> object:
    async with services.pool.reading() as db:
        return await db.fetchval(
            "SELECT full_at FROM attempt_cells WHERE subject = $1",
            digest(services.vault.pepper, subject),
        )


async def test_a_network_has_so_many_guesses_for_all_accounts(
    business: Business, make: Make, services: Services
) -> None:
    """A hundred, then one in eighteen seconds; who has logged in from there still does."""
    api = make.elsewhere()
    assert await log_in(api, business.email) == 200
    network = rules.network_of(api.peer)
    await fill(services, f"wrong passwords from {network}", rules.WRONG_FROM_NETWORK, 99)
    statuses = await asyncio.gather(*(guess(api, somebody()) for _ in range(10)))
    assert Counter(statuses) == {401: 1, 429: 9}
    stranger = await make.business()
    answer = await api.post(LOGIN, {"email": stranger.email, "password": PASSWORD}, status=429)
    assert 0 < int(answer.headers["retry-after"]) <= 36
    assert await log_in(api, business.email) == 200


async def test_many_failures_in_all_delay_strangers_only(
    business: Business, make: Make, services: Services
) -> None:
    """A thousand in five minutes, from anywhere for anybody: nobody is refused for it."""
    await fill(services, "wrong passwords", rules.WRONG_IN_ALL, 1003)
    own = asyncio.create_task(log_in(make.anybody, business.email))
    new = asyncio.create_task(log_in(make.elsewhere(), business.email))
    first, _ = await asyncio.wait({own, new}, return_when=asyncio.FIRST_COMPLETED)
    assert first == {own}
    assert (await ended(own), await ended(new)) == (200, 200)
    await fill(services, "wrong passwords", rules.WRONG_IN_ALL, 0)


async def test_a_new_password_makes_every_network_new(
    business: Business, make: Make, services: Services, sql: asyncpg.Connection
) -> None:
    """A thief who logged in with the old one is no longer known."""
    network = rules.network_of(make.anybody.peer)
    await sql.execute(
        "UPDATE users SET password_changed_at = now() + interval '1 s' WHERE email = $1",
        business.email,
    )
    known = await sql.fetchval(
        "SELECT count(*) FROM sessions s JOIN users u ON u.id = s.user_id "
        "WHERE u.email = $1 AND s.network = $2 AND s.created_at >= u.password_changed_at",
        business.email,
        network,
    )
    assert not known


def registration() -> dict[str, str]:
    """A good registration."""
    return {"name": "Ada", "email": somebody(), "password": PASSWORD, "business_name": "Ada's"}


@pytest.fixture
async def limited(database_url: str, master_key: str) -> AsyncIterator[App]:
    """An application where a network may register three times an hour."""
    settings = msgspec.structs.replace(SETTINGS, registration_limit=3)
    async with running(settings, database_url, master_key) as app:
        yield app


async def test_a_network_registers_so_often(limited: App, make: Make) -> None:
    """Of six at once three are made, the rest wait; another network registers."""
    here = Api(limited, peer=make.elsewhere().peer)
    answers = await asyncio.gather(
        *(here.post("/api/auth/register", registration()) for _ in range(6))
    )
    assert Counter(answer.status for answer in answers) == {201: 3, 429: 3}
    again = await here.post("/api/auth/register", registration(), status=429)
    assert timedelta(seconds=int(again.headers["retry-after"])) <= timedelta(minutes=20)
    there = Api(limited, peer=make.elsewhere().peer)
    await there.post("/api/auth/register", registration(), status=201)


async def test_asking_who_is_registered_counts(limited: App, make: Make) -> None:
    """A refused registration is one of the three: addresses can't be tried by the thousand."""
    known = registration()
    await make.anybody.post("/api/auth/register", known, status=201)
    here = Api(limited, peer=make.elsewhere().peer)
    statuses = [(await here.post("/api/auth/register", known)).status for _ in range(4)]
    assert statuses == [422, 422, 422, 429]


async def test_many_registrations_in_all_are_delayed(
    limited: App, make: Make, services: Services
) -> None:
    """Networks beyond number slow registering down, and stop nobody."""
    await fill(services, "registrations", rules.registrations_in_all(3), 151)
    here = Api(limited, peer=make.elsewhere().peer)
    slow = asyncio.create_task(here.post("/api/auth/register", registration()))
    await make.business()
    assert not slow.done()
    assert (await ended(slow)).status == 201
