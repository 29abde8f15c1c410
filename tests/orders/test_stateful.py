"""Any sequence of operations keeps every sum of the book right, one after the other or at once.

TILLHOUSE_TEST_FUZZ=100 takes that many walks, longer ones, and other ones each time.
"""

import os

import asyncpg
import msgspec
from hypothesis import HealthCheck, Phase, given, note, settings

from tests.make import Make
from tests.orders.crowd import Crowd
from tests.orders.shop import Shop
from tests.orders.steps import CREATES, OPENINGS, SETTINGS, crowds, walks
from tests.orders.walk import Walk
from tests.orders.world import Create, Setting, Step, World
from tillhouse.app import App

LONG = int(os.environ.get("TILLHOUSE_TEST_FUZZ", "0"))
STEPS = 40 if LONG else 20
walking = settings(
    max_examples=LONG or 6,
    deadline=None,
    # The short form takes the same walks every time; the long one looks for others.
    derandomize=not LONG,
    database=None,
    report_multiple_bugs=False,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


async def _world(app: App, sql: asyncpg.Connection, setting: Setting) -> World:
    shop = await Shop.open(Make(app, app.house), sql, business_type=setting.type)
    return await World.open(shop, setting)


@walking
@given(setting=SETTINGS, steps=walks(STEPS))
async def test_a_book_is_what_its_history_says(
    app: App, sql: asyncpg.Connection, setting: Setting, steps: list[Step]
) -> None:
    """After every step of any walk: orders, stock, debts, ledger, events, uses and the list."""
    note(repr(setting))
    walk = Walk(await _world(app, sql, setting))
    await walk.begin()
    for step in steps:
        note(repr(step))
        await walk.take(step)


@walking
@given(setting=SETTINGS, once=CREATES, opening=OPENINGS, clients=crowds())
async def test_any_crowd_leaves_a_sound_book(
    app: App,
    sql: asyncpg.Connection,
    setting: Setting,
    once: Create,
    opening: list[Step],
    clients: list[list[Step]],
) -> None:
    """One to four clients at once: stock, payments, debts, uses, events and ledger agree."""
    note("\n".join(map(repr, (setting, once, *opening, *clients))))
    crowd = Crowd(await _world(app, sql, msgspec.structs.replace(setting, restocks=True)), once)
    await crowd.take([opening])
    await crowd.take(clients)
    await crowd.check()
