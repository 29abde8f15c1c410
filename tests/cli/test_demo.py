"""The demo business: the same each time, also when two make it at once."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.cli.command import Command
from tests.waiting import HUNG_S
from tillhouse.db.embedded import Embedded


def _kept(made: dict[str, Any]) -> dict[str, Any]:
    """The parts that are the same each time."""
    return {name: value for name, value in made.items() if name != "deskUrl"}


@pytest.mark.proof
def test_two_first_starts_at_once_make_one_demo(tmp_path: Path) -> None:
    """On an empty machine two demos at once make one server, one key, one business."""
    command = Command(tmp_path / "data")
    processes = [command.start("demo", "--json") for _ in range(2)]
    answers = []
    for process in processes:
        out, err = process.communicate(timeout=HUNG_S)
        assert process.returncode == 0, err
        answers.append(json.loads(out))
    assert _kept(answers[0]) == _kept(answers[1])
    assert answers[0]["email"] == "demo@tillhouse.example"
    # Nobody uses the server any more: it was stopped.
    assert not (tmp_path / "data" / "postgres" / "postmaster.pid").exists()
    assert _kept(command.json("demo")) == _kept(answers[0])


async def test_demo_orders_are_recorded_once(command: Command, embedded: Embedded) -> None:
    """They are the book's own orders: with lines, postings and events; a second run adds none."""
    made = command.json("demo", "--orders", "40")
    assert made["filled"] == {"orders": 40, "added": 40}
    assert command.json("demo", "--orders", "30")["filled"]["added"] == 0
    both = [command.start("demo", "--orders", "60", "--json") for _ in range(2)]
    added = 0
    for process in both:
        out, err = process.communicate(timeout=HUNG_S)
        assert process.returncode == 0, err
        added += json.loads(out)["filled"]["added"]
    assert added == 20
    assert command.json("verify")["broken"] == []
    connection = await asyncpg.connect(embedded.url)
    try:
        found = await connection.fetchrow(
            """
            SELECT count(*) AS orders, count(DISTINCT customer_id) AS customers,
                count(*) FILTER (WHERE status = 'pending') AS pending,
                count(*) FILTER (WHERE status = 'completed') AS completed,
                count(*) FILTER (WHERE occurred_at >= now()) AS too_late,
                (SELECT count(*) FROM webhook_events e
                 WHERE e.book_id = b.id AND e.type = 'order.created') AS events,
                (SELECT sum(t.orders) FROM order_tallies t
                 WHERE t.book_id = b.id AND t.day IS NULL) AS told
            FROM books b JOIN orders o ON o.book_id = b.id
            WHERE b.business_id = $1 AND b.environment = 'test' GROUP BY b.id
            """,
            UUID(made["businessId"]),
        )
    finally:
        await connection.close()
    assert found is not None
    assert (found["orders"], found["events"], found["told"]) == (60, 60, 60)
    assert found["customers"] == 6
    assert found["pending"] > 0
    assert found["pending"] + found["completed"] == 60
    assert found["too_late"] == 0


@pytest.mark.proof
def test_demo_orders_keep_within_the_quota(tmp_path: Path) -> None:
    """All that doesn't fit is refused before the first; orders that are there need no room."""
    limited = Command(tmp_path / "data", ORDER_LIMIT="30")
    told = limited.refusal("demo", "--orders", "31")
    assert "31 more demo orders don't fit: the test environment holds 0 of 30 orders" in told
    assert "Raise TILLHOUSE_ORDER_LIMIT, " in told
    assert limited.json("demo", "--orders", "30")["filled"] == {"orders": 30, "added": 30}
    assert "1 more demo orders don't fit" in limited.refusal("demo", "--orders", "31")
    assert limited.json("demo", "--orders", "20")["filled"] == {"orders": 20, "added": 0}


def test_many_demo_orders_are_refused(command: Command) -> None:
    """A larger book is a matter of the benchmarks, and the sentence says how."""
    told = command.refusal("demo", "--orders", "1001")
    assert "at most 1,000" in told
    assert "python -m bench fill --orders 1001" in told


async def test_a_changed_password_is_set_again(command: Command, embedded: Embedded) -> None:
    """The password that is told is the one that opens."""
    made = command.json("demo")
    assert made["isPasswordReset"] is False
    new = "something else entirely\n"
    command.run("user", "password", made["email"], "--password-stdin", pipe=new)
    again, later = command.json("demo"), command.json("demo")
    assert _kept(again) == _kept(made) | {"isPasswordReset": True}
    assert _kept(later) == _kept(made)
    # The address that opens the desk is another one each time: each is good once.
    assert len({made["deskUrl"], again["deskUrl"], later["deskUrl"]}) == 3
    connection = await asyncpg.connect(embedded.url)
    try:
        count = await connection.fetchval(
            "SELECT count(*) FROM businesses WHERE name = 'Tillhouse Demo'"
        )
    finally:
        await connection.close()
    assert count == 1
