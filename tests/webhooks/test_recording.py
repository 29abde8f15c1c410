"""The cost of writing the results of many attempts at once."""

import json
from collections.abc import Iterator
from typing import Any, LiteralString

import pytest

from tests.webhooks.shop import Shop
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.webhooks.store.queue import (
    PLANNER,
    AttemptResult,
    record_batch,
    turn_index_scans_off,
)

FEW, MANY = 50, 400
_ANALYSE = "ANALYZE webhook_queue, webhook_deliveries"


class _Counting:
    """Runs a statement to count the rows that its plan touches."""

    def __init__(self, db: Db) -> None:
        self._db = db
        self.rows = 0.0

    async def execute(self, sql: LiteralString, *args: object) -> None:
        """Run it."""
        text = await self._db.fetchval("EXPLAIN (ANALYZE, FORMAT JSON) " + sql, *args)
        self.rows = sum(_touched(json.loads(text)[0]["Plan"]))


def _touched(node: dict[str, Any]) -> Iterator[float]:
    """The rows that each part of a plan compares, those that it drops included."""
    dropped = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Join Filter", 0)
    yield (node["Actual Rows"] + dropped) * node["Actual Loops"]
    for child in node.get("Plans", ()):
        yield from _touched(child)


@pytest.mark.parametrize("estimate", [0, 100_000])
@pytest.mark.parametrize("generation", [1, 7], ids=["claimed", "claimed by another since"])
@pytest.mark.parametrize("is_delivered", [True, False])
async def test_each_result_costs_the_same_however_many_are_written(
    quiet: Shop, estimate: int, generation: int, *, is_delivered: bool
) -> None:
    """Otherwise a sender that falls behind falls further behind with each batch."""
    await quiet.endpoint()
    book = await quiet.book()
    async with quiet.services.pool.transaction() as db:
        for _ in range(FEW + MANY):
            await quiet.emit_in(db, book)
    async with quiet.services.pool.transaction() as db:
        # Statistics in which nothing is claimed, and the queue is empty or full.
        await db.execute(_ANALYSE)
        await db.execute(
            "UPDATE pg_class SET reltuples = $1::int, relpages = $1::int / 50 + 1"
            " WHERE relname = 'webhook_queue'",
            estimate,
        )
        for name, value in PLANNER.items():
            await db.execute("SELECT set_config($1, $2, true)", name, value)
        await turn_index_scans_off(db)
        rows = await db.fetch(
            "UPDATE webhook_queue SET is_claimed = true, generation = 1 WHERE book_id = $1"
            " RETURNING delivery_id",
            book.id,
        )
        batch = [
            AttemptResult(
                book_id=book.id, delivery_id=row["delivery_id"], generation=generation, url="",
                is_delivered=is_delivered, response_status=204, latency_ms=1, error=None,
                entry="{}", retry_at=None if is_delivered else now(), at=now(),
            )
            for row in rows
        ]  # fmt: skip
        costs: list[float] = []
        for part in (batch[:FEW], batch[FEW:]):
            counting = _Counting(db)
            await record_batch(counting, part)
            costs.append(counting.rows / len(part))
        await db.execute(_ANALYSE)
    assert costs[1] <= 1.5 * costs[0], costs
