"""Any sequence of operations keeps every sum of the book right, one after the other or at once.

TILLHOUSE_TEST_FUZZ=100 takes that many walks, longer ones, and other ones each time.
"""

import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator

import asyncpg
import msgspec
import pytest
from hypothesis import HealthCheck, Phase, example, given, note, settings

from tests.make import Make
from tests.orders.committed_changes import Watch
from tests.orders.concurrent_clients import ConcurrentClients
from tests.orders.fixed_walks import EVENING, ONCE, OPENING, RUSH, TOUR
from tests.orders.modelled_shop import Create, Setting, Step, World
from tests.orders.random_walk import Walk
from tests.orders.shop import Shop, at_noon
from tests.orders.step_strategies import CREATES, OPENINGS, SETTINGS, clients_of, walks
from tillhouse.app import App

LONG = int(os.environ.get("TILLHOUSE_TEST_FUZZ", "0"))
STEPS = 50 if LONG else 20
FEW = 5
CONCURRENT = 16 if LONG else 10
walking = settings(
    max_examples=LONG or FEW,
    deadline=None,
    # The short form takes the same walks every time; the long one looks for others.
    derandomize=not LONG,
    database=None,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
# Cheaper: everything is looked at once, in the end.
concurring = settings(walking, max_examples=LONG or FEW + 1)

# The cases that walks must have reached, and how often at least: a walk that sells plentiful stock
# proves nothing about shortages.
WALKED = {
    "create: one statement": 10, "create: one undone": 3, "create: short": 3, "create: closed": 1,
    "create: gift": 1, "create: limit of each": 1, "create: store's price": 3, "create: session": 3,
    "leave: done": 2,
}  # fmt: skip
# The first among several at once is never the same twice, so these are far below the usual.
CLIENTS_REACHED = {
    "sales without one": 15, "sales with a crossing": 3, "create 400": 8, "sales with a gift": 1,
    "leave 200": 2, "4 clients": 1,
}  # fmt: skip


def _reached(session: pytest.Session, wanted: dict[str, int]) -> Iterator[Counter[str]]:
    reach: Counter[str] = Counter()
    yield reach
    if LONG:
        sys.stdout.write("".join(f"{reach[kind]:7} {kind}\n" for kind in sorted(reach)))
    if session.testsfailed:
        # It ended early.
        return
    # Of few walks only what is taken every time is sure: which ones are drawn depends on the
    # modules that were loaded before.
    leasts = wanted if LONG >= FEW else dict.fromkeys(wanted, 1)
    rare = {kind: reach[kind] for kind, least in leasts.items() if reach[kind] < least}
    assert not rare, f"the walks hardly came there: {rare}"


@pytest.fixture(scope="module")
def walked(request: pytest.FixtureRequest) -> Iterator[Counter[str]]:
    """The cases that the walks reached."""
    yield from _reached(request.session, WALKED)


@pytest.fixture(scope="module")
def reached_clients(request: pytest.FixtureRequest) -> Iterator[Counter[str]]:
    """The cases that the concurrent clients reached."""
    yield from _reached(request.session, CLIENTS_REACHED)


@pytest.fixture(scope="module")
async def watch(sql: asyncpg.Connection) -> AsyncIterator[Watch]:
    """Sees what levels of stock go through."""
    one = Watch(sql)
    await one.begin()
    yield one
    await one.end()


async def _world(app: App, sql: asyncpg.Connection, setting: Setting) -> World:
    # No walk is so long that the figures of today are of yesterday in its middle.
    fields = {"business_type": setting.type, "time_zone": at_noon()}
    shop = await Shop.open(Make(app, app.services), sql, **fields)
    return await World.open(shop, setting)


@walking
@given(setting=SETTINGS, steps=walks(STEPS))
@example(setting=Setting(), steps=TOUR)
async def test_a_book_is_what_its_history_says(
    app: App,
    sql: asyncpg.Connection,
    walked: Counter[str],
    setting: Setting,
    steps: list[Step],
) -> None:
    """After every step of any walk: orders, stock, debts, ledger, events, uses and the list."""
    note(repr(setting))
    walk = Walk(await _world(app, sql, setting), walked)
    await walk.begin()
    for step in steps:
        note(repr(step))
        await walk.take(step)


@concurring
@given(setting=SETTINGS, once=CREATES, opening=OPENINGS, clients=clients_of(CONCURRENT))
@example(setting=Setting(), once=ONCE, opening=OPENING, clients=RUSH)
@example(setting=Setting(), once=ONCE, opening=OPENING, clients=EVENING)
async def test_any_concurrent_clients_leave_a_sound_book(
    app: App,
    sql: asyncpg.Connection,
    watch: Watch,
    reached_clients: Counter[str],
    setting: Setting,
    once: Create,
    opening: list[Step],
    clients: list[list[Step]],
) -> None:
    """One to four clients at once: stock, payments, debts, uses, events and ledger agree."""
    note("\n".join(map(repr, (setting, once, *opening, *clients))))
    world = await _world(app, sql, msgspec.structs.replace(setting, restocks=True))
    concurrent = ConcurrentClients(world, once, watch, reached_clients)
    reached_clients[f"{len(clients)} clients"] += 1
    await concurrent.take([opening])
    await concurrent.take(clients)
    await concurrent.check()
