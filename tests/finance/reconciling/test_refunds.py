"""Refunds that drifted from what the provider says of them, and those that it alone knows."""

from datetime import timedelta

import pytest

from tests.finance.reconciling.drifting import Drifting
from tillhouse.kit.clock import now
from tillhouse.orders.posting.proof import REFUND_SOURCE


async def faults(drifting: Drifting) -> list[str]:
    """The subjects of the faults that `tillhouse verify` finds in refunds."""
    async with drifting.services.pool.reading() as db:
        found = REFUND_SOURCE.prove(db, drifting.till.book, 100)
        return [one.subject async for one in found]


async def test_what_agrees_is_counted_and_not_told(drifting: Drifting) -> None:
    """One that went back, one that failed, and one that was never sent."""
    for amount in ("400", "400.99"):
        await drifting.give_back(amount)
        await drifting.work()
    report = await drifting.look()
    assert (report.differences, report.refunds) == ([], 2)
    await drifting.give_back("300")
    assert (await drifting.look()).refunds == 2


async def test_a_refund_whose_job_died_is_told_and_brought_to_its_end(drifting: Drifting) -> None:
    """Money went back, no answer came, and nobody asks any more: verify says so, a repair asks."""
    order = await drifting.give_back("400.97")
    await drifting.work()
    await drifting.execute(
        "UPDATE jobs SET dead_at = $2, reason = 'tired' WHERE book_id = $1 AND kind LIKE 'refund%'",
        now(),
    )
    assert await drifting.refund_of(order) == "pending"
    assert await faults(drifting) == ["waiting refund"]
    assert await drifting.kinds() == ["refund_differs", "refund_stuck"]
    [told] = [one for one in (await drifting.look()).differences if one.kind == "refund_stuck"]
    assert told.what.endswith("nothing works on it: tired")
    report = await drifting.mend()
    assert (report.differences, len(report.repaired)) == ([], 2)
    assert await drifting.refund_of(order) == "successful"
    assert await faults(drifting) == []


async def test_a_refund_that_was_never_sent_is_queued_again(drifting: Drifting) -> None:
    """Its job is gone; the worker sends it, once."""
    order = await drifting.give_back("400")
    await drifting.forget_jobs()
    assert await drifting.kinds() == ["refund_stuck"]
    await drifting.mend()
    assert await drifting.refund_of(order) == "pending"
    await drifting.work()
    assert await drifting.refund_of(order) == "successful"
    assert (await drifting.look()).differences == []


@pytest.mark.parametrize(("amount", "ends"), [("400", "reversed"), ("400.99", "successful")])
async def test_a_refund_of_which_the_provider_thought_better_is_mended(
    drifting: Drifting, amount: str, ends: str
) -> None:
    """It failed after all, or went back after all, and no message of it arrived."""
    order = await drifting.give_back(amount)
    await drifting.work()
    state = "failed" if ends == "reversed" else "successful"
    await drifting.execute("UPDATE sandbox_refunds SET state = $2 WHERE book_id = $1", state)
    [one] = (await drifting.look()).differences
    assert (one.kind, one.repair) == ("refund_differs", "ask")
    assert (await drifting.mend()).differences == []
    assert await drifting.refund_of(order) == ends


async def test_money_that_went_back_without_a_refund_is_told(drifting: Drifting) -> None:
    """By another amount, by a reference of nobody's; one that counts here and is unknown there."""
    order = await drifting.give_back("400")
    await drifting.work()
    await drifting.execute("UPDATE sandbox_refunds SET amount = 450 WHERE book_id = $1")
    [one] = (await drifting.look()).differences
    assert (one.kind, one.repair) == ("refund_differs", None)
    assert "450" in one.what
    await drifting.execute("UPDATE sandbox_refunds SET reference = 'x' WHERE book_id = $1")
    assert await drifting.kinds() == ["refund_unknown", "refund_unrecorded"]
    assert (await drifting.mend()).repaired == []
    assert await drifting.refund_of(order) == "successful"


async def test_a_refund_that_never_arrived_is_asked_about_again(drifting: Drifting) -> None:
    """The provider knows nothing of it an hour later; a repair may send it once more."""
    order = await drifting.give_back("400.97")
    await drifting.work()
    await drifting.execute("DELETE FROM sandbox_refunds WHERE book_id = $1")
    assert await drifting.kinds() == []
    await drifting.execute(
        "UPDATE refunds SET asked_at = asked_at - $2::interval WHERE book_id = $1",
        timedelta(hours=1, minutes=1),
    )
    assert await drifting.kinds() == ["refund_unknown"]
    assert [one.kind for one in (await drifting.repair()).differences] == ["refund_differs"]
    assert (await drifting.mend()).differences == []
    assert await drifting.refund_of(order) == "successful"
    query = "SELECT count(*) FROM sandbox_refunds WHERE book_id = $1"
    assert await drifting.sql.fetchval(query, drifting.till.book) == 1
