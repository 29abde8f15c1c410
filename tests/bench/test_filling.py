"""`python -m bench fill`: a book that could have come through the API, filled just once."""

import json
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import asyncpg
import pytest
from bench.filling.plan import Plan, Timetable, code, plans
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.conftest import Bench
from tests.cli.command import Command
from tests.cli.test_commands import deserted
from tests.waiting import HUNG_S
from tillhouse.db.embedded import Embedded

pytestmark = pytest.mark.proof

_NOW = datetime(2026, 11, 21, 15, 30, tzinfo=UTC)
_LAGOS = ZoneInfo("Africa/Lagos")
_TABLE = Timetable(_NOW, _LAGOS)

# Orders of one transaction: few, so that a run of many batches is over soon.
_BATCH = 200

Fetch = Callable[..., Coroutine[Any, Any, list[asyncpg.Record]]]


def _start(bench: Bench, orders: int) -> subprocess.Popen[str]:
    return bench.start("fill", "--orders", str(orders), "--batch", str(_BATCH))


def _fill(bench: Bench, orders: int) -> dict[str, Any]:
    done = bench.run("fill", "--orders", str(orders), "--batch", str(_BATCH))
    return json.loads(done.stdout)["filled"]


@pytest.fixture
async def fetch(embedded: Embedded, command: Command, bench: Bench) -> AsyncIterator[Fetch]:
    """Rows of the demo business's test book, which is $1."""
    assert bench.data == command.data
    connection = await asyncpg.connect(embedded.url)
    business = UUID(command.json("demo")["businessId"])
    book = await connection.fetchval(
        "SELECT id FROM books WHERE business_id = $1 AND environment = 'test'", business
    )

    async def ask(sql: str) -> list[asyncpg.Record]:
        return await connection.fetch(sql, book)

    yield ask
    await connection.close()


_KEYS = "SELECT idempotency_key AS key FROM orders WHERE book_id = $1 ORDER BY 1"


async def test_a_filled_book_adds_up(command: Command, bench: Bench, fetch: Fetch) -> None:
    """Totals, lines, ledger, debts, tallies agree; a second run has nothing to do."""
    made = _fill(bench, 300)
    assert made["orders"] == made["added"] == 300
    assert _fill(bench, 300)["added"] == 0
    assert command.json("verify")["broken"] == []
    wrong = await fetch(
        """
        SELECT o.id FROM orders o
        JOIN LATERAL (SELECT sum(i.total_price) AS items, count(*) AS lines
            FROM order_items i WHERE i.book_id = o.book_id AND i.order_id = o.id) i ON true
        WHERE o.book_id = $1 AND (i.lines = 0
            OR o.total_amount <> i.items + o.service_charge_amount
            OR (o.status = 'completed') <> (o.payment_status = 'paid')
                AND o.status IN ('pending', 'completed'))
        """
    )
    assert wrong == []
    [told] = await fetch(
        """
        SELECT sum(t.orders) AS orders, sum(t.total_amount) AS total,
            (SELECT sum(total_amount) FROM orders WHERE book_id = $1) AS wanted,
            (SELECT count(*) FROM order_tally_changes WHERE book_id = $1) AS unfolded,
            (SELECT sum(customers) FROM customer_tallies WHERE book_id = $1) AS customers,
            (SELECT count(*) FROM customers WHERE book_id = $1) AS people
        FROM order_tallies t WHERE t.book_id = $1 AND t.day IS NULL
        """
    )
    assert (told["orders"], told["total"], told["unfolded"]) == (300, told["wanted"], 0)
    assert told["customers"] == told["people"] == 15


async def test_a_run_that_was_killed_is_taken_up(
    command: Command, bench: Bench, fetch: Fetch, embedded: Embedded
) -> None:
    """Written rows stay, missing ones are added, and the result is the same as without a break."""
    # Killed after the first of so many batches that it can't have come to the last.
    wanted = 15 * _BATCH + 90
    before = [row["key"] for row in await fetch(_KEYS)]
    process = _start(bench, wanted)
    while len(await fetch(_KEYS)) < _BATCH + len(before):
        assert process.poll() is None, process.communicate()
    process.kill()
    process.communicate()
    await deserted(embedded)
    left = len(await fetch(_KEYS))
    assert left < wanted
    done = _fill(bench, wanted)
    assert (done["orders"], done["added"]) == (wanted, wanted - left)
    keys = [row["key"] for row in await fetch(_KEYS)]
    numbers = [Plan.of_key(key)[0] for key in keys]
    assert numbers == list(range(wanted))
    # One plan for all that were added, though two runs carried it out.
    assert len({Plan.of_key(key)[1] for key in keys[len(before) :]}) == 1
    assert command.json("verify")["broken"] == []
    moments = await fetch("SELECT occurred_at FROM orders WHERE book_id = $1 ORDER BY id")
    assert moments == sorted(moments)


async def test_it_looks_like_a_business(bench: Bench, fetch: Fetch) -> None:
    """Every status, method and channel; three stores; weekends busier than Mondays."""
    _fill(bench, 2_900)
    [found] = await fetch(
        """
        SELECT array_agg(DISTINCT status) AS statuses, count(DISTINCT payment_method) AS methods,
            count(DISTINCT channel) AS channels, count(DISTINCT store_id) AS stores,
            count(DISTINCT served_by_id) AS servers,
            count(*) FILTER (WHERE extract(isodow FROM occurred_at) = 6) AS saturdays,
            count(*) FILTER (WHERE extract(isodow FROM occurred_at) = 1) AS mondays,
            count(*) FILTER (WHERE tag_ids <> '{}') AS tagged,
            count(*) FILTER (WHERE status = 'scheduled' AND scheduled_at > now()) AS to_come,
            count(*) FILTER (WHERE occurred_at > now()) AS too_late
        FROM orders WHERE book_id = $1
        """
    )
    # One in a thousand is refunded: there may be none.
    assert {"scheduled", "pending", "completed", "cancelled"} <= set(found["statuses"])
    assert (found["methods"], found["channels"]) == (6, 8)
    assert (found["stores"], found["servers"], found["too_late"]) == (3, 6, 0)
    assert found["saturdays"] > 1.4 * found["mondays"]
    assert found["tagged"] > 0
    assert found["to_come"] > 0


async def test_its_sums_are_those_of_its_entries(bench: Bench, fetch: Fetch) -> None:
    """The summary and a trial balance read sums: a book without them is measured too fast."""
    _fill(bench, 2_900)
    [found] = await fetch(_SUMS)
    assert found["cash"] == found["cash_summed"] != 0
    assert 0 <= found["entries"] - found["entries_summed"] <= found["today"]
    assert found["entries_summed"] > 0


_SUMS = """
    SELECT (SELECT sum(amount) FROM ledger_tallies
            WHERE book_id = $1 AND account_kind = 'cash' AND period = 'hour') AS cash_summed,
        (SELECT sum(CASE WHEN debit_kind = 'cash' THEN amount ELSE -amount END)
            FROM ledger_transfers WHERE book_id = $1 AND 'cash' IN (debit_kind, credit_kind))
            AS cash,
        (SELECT sum(debits) FROM ledger_sums WHERE book_id = $1 AND period = 'day')
            AS entries_summed,
        (SELECT sum(amount) FROM ledger_transfers WHERE book_id = $1) AS entries,
        (SELECT coalesce(sum(amount), 0) FROM ledger_transfers
            WHERE book_id = $1 AND id >= least_id(date_trunc('day', now(), 'UTC'))) AS today
"""


async def test_two_at_once_fill_once(bench: Bench, fetch: Fetch) -> None:
    """The second hears that it is being done, or finds it done."""
    wanted = len(await fetch(_KEYS)) + 300
    both = [_start(bench, wanted) for _ in range(2)]
    for process in both:
        _, told = process.communicate(timeout=HUNG_S)
        assert process.returncode == 0 or "is being filled already" in told
    keys = [row["key"] for row in await fetch(_KEYS)]
    assert [Plan.of_key(key)[0] for key in keys] == list(range(wanted))


@given(st.integers(0, 10**7), st.integers(1, 10**7), st.data())
def test_a_plan_is_read_from_any_of_its_keys(first: int, size: int, data: st.DataObject) -> None:
    """Whichever order was the last, what is left is known: of the plan, then up to the wanted."""
    plan = Plan(first, first + size, _NOW)
    number = data.draw(st.integers(first, plan.end - 1))
    assert Plan.of_key(plan.key(number)) == (number, plan)
    wanted = data.draw(st.integers(1, 3 * 10**7))
    left = plans(plan.key(number), wanted, _NOW + timedelta(days=1))
    if number + 1 < plan.end:
        assert left.pop(0) == plan
    assert [(one.first, one.end) for one in left] == ([(plan.end, wanted)] * (wanted > plan.end))


@given(st.lists(st.floats(0, 1, exclude_max=True), min_size=2))
def test_moments_rise_and_lie_in_open_hours(shares: list[float]) -> None:
    """Nobody buys at night, or in the future."""
    moments = [_TABLE.moment(share) for share in sorted(shares)]
    assert moments == sorted(moments)
    for moment in moments:
        assert _NOW - timedelta(days=3 * 366) < moment < _NOW
        assert 7 <= moment.astimezone(_LAGOS).hour <= 22


@given(st.uuids(), st.sets(st.integers(0, 10**8), min_size=2))
def test_no_two_orders_share_a_code(book: UUID, numbers: set[int]) -> None:
    """Short codes of different numbers differ."""
    codes = {code(book, number) for number in numbers}
    assert len(codes) == len(numbers)
    assert all(len(one) == 8 for one in codes)
