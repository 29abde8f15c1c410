"""A hook that never comes is no money that is lost; and nobody asks too often."""

import asyncio
from datetime import timedelta
from functools import partial

from tests.payins.collecting import Collecting
from tillhouse.kit.clock import now
from tillhouse.payins.asking import SCHEDULE, ask

HOOK_LOST = "DELETE FROM jobs WHERE book_id = $1 AND kind = 'provider_event'"


async def test_what_no_hook_told_is_found_by_asking(till: Collecting) -> None:
    """By the account, and by its target; the caller may apply it at once."""
    account = await till.account()
    await till.simulate(account)
    await till.sql.execute(HOOK_LOST, till.book.id)
    looked = await ask(till.services, till.book, ("order", account.target_id))
    assert looked is not None
    assert (looked.seen, looked.new) == (1, 1)
    async with till.services.pool.transaction() as db:
        await till.apply(db, account.target_id)
    await till.work()
    assert [verb for verb, _, _ in till.applied] == ["applied"]
    assert await till.faults() == []


async def test_a_thousand_who_press_are_one_question(till: Collecting) -> None:
    """As long as the interval lasts; so many at once that each has a connection in time."""
    account = await till.account()
    looked: list[object] = []
    for _ in range(20):
        press = partial(ask, min_interval=timedelta(hours=1))
        asked = [press(till.services, till.book, account.id) for _ in range(50)]
        looked += await asyncio.gather(*asked)
    assert sum(one is not None for one in looked) == 1
    assert await ask(till.services, till.book, account.id, min_interval=timedelta(0)) is not None


async def test_a_lost_hook_heals_by_itself(till: Collecting) -> None:
    """After five minutes, and later when it was paid later."""
    for paid_before in (0, 1, len(SCHEDULE) - 1):
        account = await till.account()
        at = now()
        for step, wait in enumerate(SCHEDULE):
            if step == paid_before:
                await till.simulate(account)
                await till.sql.execute(HOOK_LOST, till.book.id)
            at += wait + timedelta(seconds=30)
            due = "UPDATE jobs SET due_at = $2 WHERE book_id = $1 AND kind = 'payin_asking'"
            await till.sql.execute(due, till.book.id, now())
            again = "UPDATE virtual_accounts SET asked_at = NULL WHERE book_id = $1"
            await till.sql.execute(again, till.book.id)
            await till.work()
        assert till.applied[-1][:2] == ("applied", account.target_id)
    query = "SELECT count(*) FROM jobs WHERE book_id = $1 AND kind = 'payin_asking'"
    assert await till.sql.fetchval(query, till.book.id) == 0


async def test_questions_come_when_they_are_due(till: Collecting) -> None:
    """Five minutes, an hour, then daily, until nothing is left to ask."""
    await till.account()
    query = "SELECT due_at - now() FROM jobs WHERE book_id = $1 AND kind = 'payin_asking'"
    waits: list[timedelta] = []
    while (wait := await till.sql.fetchval(query, till.book.id)) is not None:
        waits.append(wait)
        due = "UPDATE jobs SET due_at = $2 WHERE book_id = $1 AND kind = 'payin_asking'"
        await till.sql.execute(due, till.book.id, now())
        await till.work()
    hours = [round(wait.total_seconds() / 3600, 1) for wait in waits]
    assert hours == [0.1, 1.0, 24.0, 24.0, 24.0, 24.0, 24.0]


async def test_what_was_paid_is_asked_about_no_more(till: Collecting) -> None:
    """Its job finds nothing left to do."""
    account = await till.account()
    await till.pay(account)
    await till.later(minutes=6)
    query = "SELECT asked_at FROM virtual_accounts WHERE book_id = $1"
    assert await till.sql.fetchval(query, till.book.id) is None
