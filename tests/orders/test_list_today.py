"""Today's figures come from the tallies of a day in UTC, and are of the store's own day."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from tests.orders.conftest import Open
from tests.orders.shop import Body, Shop, fee
from tillhouse.access.process import Services
from tillhouse.jobs.chores import fold
from tillhouse.kit.clock import iso
from tillhouse.orders.listing.store import figures
from tillhouse.orders.listing.store.query import OrderQuery
from tillhouse.orders.listing.store.tallies import ORDER_TALLIES

# The night in which New York's clocks go back is among these days.
FIRST, DAYS = datetime(2025, 10, 31, tzinfo=UTC), 5
CLOCKS = (
    ("UTC", "00:00"), ("Africa/Lagos", "00:00"), ("Africa/Lagos", "04:00"),
    ("America/New_York", "00:00"), ("America/New_York", "23:30"), ("Asia/Kolkata", "12:00"),
    ("Etc/GMT+12", "00:00"), ("Pacific/Kiritimati", "00:00"), ("Pacific/Kiritimati", "11:59"),
)  # fmt: skip
Day = tuple[datetime, datetime]


async def test_today_is_the_stores_day_at_any_moment(open_shop: Open, services: Services) -> None:
    """Wherever its day lies in UTC, folded or not: what a count of its orders says."""
    shop = await open_shop(time_zone="UTC")
    clocks = {
        (await shop.store(time_zone=zone, day_cutoff=cutoff))["id"]: (zone, cutoff)
        for zone, cutoff in CLOCKS
    }
    dice = random.Random(19)  # noqa: S311 - the same sales every time
    moments = _moments(dice)
    orders = [await _sale(shop, dice, at) for at in moments[::3]]
    seen: set[int] = set()
    for _ in range(2):
        for at in moments:
            store = dice.choice(list(clocks))
            query = {"store_id": store, "channel": dice.choice((None, "whatsapp"))}
            expected = _today(orders, query, _day(at, *clocks[store]))
            assert await _kept(services, shop, query, at) == {expected}, (at, clocks[store])
            seen.add(expected[0])
        await fold(services.pool, ORDER_TALLIES)
    assert len(seen) > 5


def _moments(dice: random.Random) -> list[datetime]:
    """Any, and those around which some store's day begins."""
    found = [FIRST + timedelta(minutes=dice.randrange(DAYS * 24 * 60)) for _ in range(60)]
    for zone, cutoff in CLOCKS:
        begins, ends = _day(FIRST + timedelta(days=dice.randrange(1, DAYS - 1)), zone, cutoff)
        found += [begins, begins - timedelta(milliseconds=1), ends]
    dice.shuffle(found)
    return found


async def _sale(shop: Shop, dice: random.Random, at: datetime) -> Body:
    """One of many kinds."""
    order = await shop.sell(
        fee(dice.randrange(1, 1000)),
        occurred_at=iso(at),
        amount_paid=dice.choice((0, 1000)),
        channel=dice.choice(("in_person", "whatsapp")),
    )
    return await shop.to(order, "cancelled") if dice.random() < 0.2 else order


def _day(at: datetime, zone: str, cutoff: str) -> Day:
    """When the day began that it is at a moment, and when it ends."""
    hours, minutes = cutoff.split(":")
    late = timedelta(hours=int(hours), minutes=int(minutes))
    local = at.astimezone(ZoneInfo(zone)).replace(tzinfo=None) - late
    begins = local.replace(hour=0, minute=0, second=0, microsecond=0) + late
    both = (begins, begins + timedelta(days=1))
    first, after = (one.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC) for one in both)
    return first, after


def _today(orders: list[Body], query: dict[str, Any], day: Day) -> tuple[int, int]:
    """The figures of a day by a plain filter; all orders are of no store, and so of each."""
    found = [
        order
        for order in orders
        if day[0] <= datetime.fromisoformat(order["occurredAt"]) < day[1]
        and query["channel"] in (None, order["channel"])
        and order["status"] != "cancelled"
    ]
    return len(found), sum(order["totalAmount"] for order in found)


async def _kept(
    services: Services, shop: Shop, query: dict[str, Any], at: datetime
) -> set[tuple[int, int]]:
    """The same by the tallies, over all time and of a time, and by the orders themselves."""
    channel = {} if query["channel"] is None else {"channel": [query["channel"]]}
    asked = OrderQuery(asked={"store_id": UUID(query["store_id"]), **channel})
    ways = (
        figures.find_figures, figures.find_figures_between, figures.find_figures_in_detail,
    )  # fmt: skip
    found: set[tuple[int, int]] = set()
    async with services.pool.reading() as db:
        for way in ways:
            row = await way(db, shop.book, asked, at)
            assert row is not None
            found.add((row["today_orders"], int(row["today_revenue"])))
    return found
