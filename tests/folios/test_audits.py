"""The night audit: each business day once, the days of a standstill after each other."""

import asyncio
from datetime import timedelta

import pytest

from tests.folios.lodge import AUDITS, SETTINGS, Lodge, day
from tests.orders.shop import exact
from tillhouse.folios import jobs
from tillhouse.folios.audits import AT_ONCE
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now


async def _nights(lodge: Lodge) -> list[tuple[str, float]]:
    rows = await lodge.sql.fetch(
        """
        SELECT n.night_on, o.total_amount FROM folio_nights n
        JOIN orders o ON o.book_id = n.book_id AND o.id = n.order_id
        WHERE n.book_id = $1 ORDER BY n.night_on
        """,
        lodge.book_id,
    )
    return [(row["night_on"].isoformat(), row["total_amount"]) for row in rows]


async def _work(lodge: Lodge) -> None:
    """A worker looks what is due, and looks again a little later."""
    kinds = (*jobs.kinds(lodge.services), *jobs.chores(lodge.services))
    runner = JobRunner(lodge.services.pool, kinds, lodge.services.job_results)
    # The chore is every test's.
    await lodge.sql.execute("UPDATE jobs SET due_at = now() WHERE kind = 'night_audits'")
    for minutes in (0, 2):
        await runner.run_due(now() + timedelta(minutes=minutes))
    failed = "SELECT kind, reason FROM jobs WHERE book_id = $1 AND reason IS NOT NULL"
    assert await lodge.sql.fetch(failed, lodge.book_id) == []


async def test_a_night_is_charged_and_paid_by_the_deposit(lodge: Lodge) -> None:
    """At three in the morning, once; the order is of the day of the night."""
    stay = await lodge.arrive(3)
    await lodge.pay(stay, 150)
    assert (await lodge.audit(1, 2)).audits == []
    run = await lodge.audit(1, 3)
    assert [(one.day, one.nights, one.amount) for one in run.audits] == [(day(0), 1, 100)]
    assert run.is_complete
    assert (await lodge.audit(1, 4)).audits == []
    folio = await lodge.folio(stay)
    (charge,) = folio["charges"]
    assert (charge["night"], charge["remainingAmount"]) == (day(0), 0)
    assert charge["occurredAt"].startswith(day(0))
    assert (folio["unspentAmount"], folio["nightsToCome"]) == (50, 2)


async def test_days_of_a_standstill_are_caught_up(lodge: Lodge) -> None:
    """One audit a day, each with its night; nothing after the last night."""
    stay = await lodge.arrive(3)
    run = await lodge.audit(6)
    assert [(one.day, one.nights) for one in run.audits] == [
        (day(0), 1), (day(1), 1), (day(2), 1), (day(3), 0), (day(4), 0), (day(5), 0),
    ]  # fmt: skip
    assert [one.overdue for one in run.audits] == [0, 0, 0, 1, 1, 1]
    assert [night for night, _ in await _nights(lodge)] == [day(0), day(1), day(2)]
    assert (await lodge.folio(stay))["amountOwed"] == 300


async def test_bookings_of_which_nobody_came_are_released(lodge: Lodge) -> None:
    """Unless the hotel keeps them: then the guest may still come."""
    kept = await lodge.book(0, 3)
    await lodge.api.patch(SETTINGS, {"no_show": "keep"}, status=200)
    assert (await lodge.audit(1)).audits[0].no_shows == 0
    assert (await lodge.read(kept))["status"] == "booked"
    await lodge.api.patch(SETTINGS, {"no_show": "release"}, status=200)
    later = await lodge.book(2, 3)
    assert (await lodge.audit(2)).audits[0].no_shows == 1
    assert (await lodge.read(kept))["status"] == "no_show"
    assert (await lodge.read(later))["status"] == "booked"


async def test_a_worker_audits_what_is_due(lodge: Lodge) -> None:
    """It finds the days by itself, one after the other."""
    stay = await lodge.arrive(2)
    await lodge.shift(stay, 4)
    await _work(lodge)
    assert [night for night, _ in await _nights(lodge)] == [day(-4), day(-3)]
    answer = await lodge.api.get(AUDITS, status=200)
    audited = [one["day"] for one in answer.data]
    assert audited == sorted(audited, reverse=True)
    assert audited[-1] == day(-4)
    assert audited[0] in (day(-1), day(-2))
    assert sum(one["nights"] for one in answer.data) == 2
    assert all(one["finishedAt"] for one in answer.data)


async def test_a_large_house_is_audited_by_parts(lodge: Lodge) -> None:
    """A transaction takes some stays; together each night is charged once."""
    for number in range(AT_ONCE + 3):
        stay = await lodge.arrive(1, room_id=await lodge.room(f"2{number:02}"))
        await lodge.shift(stay, 2)
    await _work(lodge)
    nights = await _nights(lodge)
    assert len(nights) == AT_ONCE + 3
    query = (
        "SELECT sum(nights) AS nights, sum(amount) AS amount FROM hotel_audits WHERE book_id = $1"
    )
    row = await lodge.sql.fetchrow(query, lodge.book_id)
    assert row is not None
    assert (row["nights"], row["amount"]) == (AT_ONCE + 3, 100 * (AT_ONCE + 3))


async def test_eight_audits_at_once_charge_each_night_once(lodge: Lodge) -> None:
    """Each day is audited once, and the deposit pays once."""
    stays = [await lodge.arrive(3) for _ in range(2)]
    for stay in stays:
        await lodge.pay(stay, 150)
    runs = await asyncio.gather(*(lodge.audit(3) for _ in range(8)))
    worked = sorted(one.day for run in runs for one in run.audits)
    assert worked == [day(0), day(1), day(2)]
    assert len(await _nights(lodge)) == 6
    assert [(await lodge.folio(stay))["amountOwed"] for stay in stays] == [150, 150]


async def test_audits_that_are_due_are_run_over_http(lodge: Lodge) -> None:
    """The first request does what is due, and the second finds nothing."""
    stay = await lodge.arrive(1)
    await lodge.shift(stay, 2)
    first = exact(await lodge.api.post(AUDITS, {}, status=200))
    assert first["isComplete"]
    assert first["audits"][0]["nights"] == 1
    assert exact(await lodge.api.post(AUDITS, {}, status=200))["audits"] == []


async def test_a_night_that_was_cancelled_stays_so(lodge: Lodge) -> None:
    """Somebody waived it: no audit charges it again."""
    stay = await lodge.arrive(2)
    await lodge.audit(1)
    (charge,) = (await lodge.folio(stay))["charges"]
    path = f"/v1/orders/{charge['orderId']}"
    await lodge.api.patch(path, {"status": "cancelled"}, status=200)
    await lodge.audit(2)
    folio = await lodge.folio(stay)
    assert [one["status"] for one in folio["charges"]] == ["cancelled", "pending"]
    assert folio["amountOwed"] == 100


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"audit_time": "12:00"}, "audit_time"),
        ({"check_in_time": "25:00"}, "check_in_time"),
        ({"no_show": "sell"}, "no_show"),
        ({"check_out_time": None}, "check_out_time"),
    ],
)
async def test_settings_that_are_wrong(lodge: Lodge, body: dict[str, object], field: str) -> None:
    """An audit after noon, an hour that no clock has, a word that means nothing."""
    answer = await lodge.api.patch(SETTINGS, body, status=422)
    assert answer.wrong_fields == {field}


async def test_settings_are_kept(lodge: Lodge) -> None:
    """Defaults until they are changed; the rest stays."""
    before = (await lodge.api.get(SETTINGS, status=200)).data
    assert before == {
        "checkInTime": "14:00", "checkOutTime": "11:00", "auditTime": "03:00", "noShow": "release",
    }  # fmt: skip
    await lodge.api.patch(SETTINGS, {"audit_time": "05:30"}, status=200)
    assert (await lodge.api.get(SETTINGS, status=200)).data == {**before, "auditTime": "05:30"}
