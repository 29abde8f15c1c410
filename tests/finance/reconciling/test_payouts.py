"""Withdrawals that drifted from what the provider says of them."""

from decimal import Decimal

import pytest

from tests.finance.reconciling.drifting import Drifting
from tillhouse.kit.clock import now
from tillhouse.payouts.withdrawals.proof import WITHDRAWAL_SOURCE


async def stuck(drifting: Drifting, amount: str) -> str:
    """A withdrawal whose provider paid, of which nobody heard, and whose jobs have died."""
    await drifting.paid()
    withdrawal = await drifting.withdraw(amount)
    await drifting.work()
    await drifting.execute(
        "UPDATE jobs SET dead_at = $2, reason = 'tired' WHERE book_id = $1 AND kind LIKE 'withd%'",
        now(),
    )
    return withdrawal


async def faults(drifting: Drifting) -> list[str]:
    """The subjects of the faults that `tillhouse verify` finds in withdrawals."""
    async with drifting.services.pool.reading() as db:
        found = WITHDRAWAL_SOURCE.prove(db, drifting.till.book, 100)
        return [one.subject async for one in found]


async def test_a_withdrawal_whose_job_died_is_told_and_brought_to_its_end(
    drifting: Drifting,
) -> None:
    """Money left, no answer came, and nobody asks any more: verify says so, a repair asks."""
    withdrawal = await stuck(drifting, "400.97")
    assert await drifting.withdrawal(withdrawal) == "processing"
    assert await faults(drifting) == ["waiting withdrawal"]
    assert await drifting.kinds() == ["payout_differs", "payout_stuck"]
    [told] = [one for one in (await drifting.look()).differences if one.kind == "payout_stuck"]
    assert told.what.endswith("nothing works on it: tired")
    report = await drifting.mend()
    assert report.differences == []
    assert len(report.repaired) == 2
    assert await drifting.withdrawal(withdrawal) == "completed"
    assert await faults(drifting) == []


async def test_a_withdrawal_that_was_never_sent_is_queued_again(drifting: Drifting) -> None:
    """Its job is gone; the worker sends it, once."""
    await drifting.paid()
    withdrawal = await drifting.withdraw("400")
    await drifting.forget_jobs()
    assert await drifting.kinds() == ["payout_stuck"]
    await drifting.mend()
    assert await drifting.withdrawal(withdrawal) == "requested"
    await drifting.work()
    assert await drifting.withdrawal(withdrawal) == "completed"
    assert (await drifting.look()).differences == []


async def test_withdrawals_that_wait_while_frozen_are_not_stuck(drifting: Drifting) -> None:
    """Their job comes back when withdrawals go again."""
    await drifting.paid()
    await drifting.withdraw("400")
    body = {"frozen": True, "reason": "lost phone"}
    await drifting.api.request("PUT", "/v1/wallet/payouts", body, status=200)
    await drifting.work()
    assert await faults(drifting) == []
    assert await drifting.kinds() == []


@pytest.mark.parametrize("state", ["reversed", "failed"])
async def test_a_payout_that_came_back_unheard_comes_back(drifting: Drifting, state: str) -> None:
    """The bank sent it back later; the money is in the wallet again."""
    await drifting.paid()
    before = await drifting.balance()
    withdrawal = await drifting.withdraw("400")
    await drifting.work()
    await drifting.execute("UPDATE sandbox_payouts SET state = $2 WHERE book_id = $1", state)
    [one] = (await drifting.look()).differences
    assert (one.kind, one.repair) == ("payout_differs", "ask")
    assert (await drifting.mend()).differences == []
    assert await drifting.withdrawal(withdrawal) == "reversed"
    assert await drifting.balance() == before


async def test_a_payout_that_completed_after_it_failed_leaves_the_wallet(
    drifting: Drifting,
) -> None:
    """Nobody heard of it: the repair books it, and the wallet has what the provider has."""
    await drifting.paid()
    before = await drifting.balance()
    withdrawal = await drifting.withdraw("400.99")
    await drifting.work()
    assert await drifting.withdrawal(withdrawal) == "failed"
    await drifting.execute(
        "UPDATE sandbox_payouts SET state = 'completed', fee = 6 WHERE book_id = $1"
    )
    [one] = (await drifting.look()).differences
    assert (one.kind, one.repair) == ("payout_differs", "ask")
    assert (await drifting.mend()).differences == []
    assert await drifting.withdrawal(withdrawal) == "completed"
    assert before - await drifting.balance() == Decimal("406.99")
    assert await faults(drifting) == []


async def test_a_fee_that_nobody_heard_of_leaves_the_wallet(drifting: Drifting) -> None:
    """The difference, once; a lower fee is told, and left to people."""
    await drifting.paid()
    before = await drifting.balance()
    await drifting.withdraw("400")
    await drifting.work()
    await drifting.execute("UPDATE sandbox_payouts SET fee = 6 WHERE book_id = $1")
    [one] = (await drifting.look()).differences
    assert (one.kind, one.repair) == ("payout_differs", "ask")
    assert (await drifting.mend()).differences == []
    assert before - await drifting.balance() == 406
    await drifting.execute("UPDATE sandbox_payouts SET fee = 2 WHERE book_id = $1")
    [one] = (await drifting.mend()).differences
    assert (one.repair, one.what) == (None, "its fee is 6 here, and 2 at the provider")


async def test_money_that_left_without_a_withdrawal_is_told(drifting: Drifting) -> None:
    """By another amount, by a reference of nobody's, or after it was cancelled."""
    await drifting.paid()
    account = await drifting.account()
    await drifting.withdraw("300", account)
    await drifting.work()
    await drifting.execute("UPDATE sandbox_payouts SET amount = 350 WHERE book_id = $1")
    [one] = (await drifting.look()).differences
    assert (one.kind, one.repair) == ("payout_differs", None)
    assert "350" in one.what
    await drifting.execute("UPDATE sandbox_payouts SET reference = 'x' WHERE book_id = $1")
    assert await drifting.kinds() == ["payout_unknown", "payout_unrecorded"]
    cancelled = await drifting.withdraw("100", account)
    path = f"/v1/wallet/withdrawals/{cancelled}/cancel"
    await drifting.api.post(path, None, status=200)
    await drifting.execute(
        "UPDATE sandbox_payouts SET reference = 'wd-' || $2 WHERE book_id = $1", cancelled
    )
    assert await drifting.kinds() == ["payout_differs", "payout_unknown"]
    assert (await drifting.mend()).repaired == []
