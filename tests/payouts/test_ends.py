"""Payouts whose fee leaves the wallet, and those that end twice: each is booked as it was."""

import asyncio
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tests.payouts.treasury import SWITCH, Treasury
from tests.sweeping import JOB
from tillhouse.kit.clock import now
from tillhouse.payouts.withdrawals.outcome import COLLECTING
from tillhouse.providers.payments.provider import PayoutState


async def statement(treasury: Treasury) -> list[tuple[str, Decimal, Decimal]]:
    """The statement of the wallet, the oldest first: type, amount and balance after it."""
    rows = (await treasury.api.get("/v1/wallet/statement", status=200)).data
    return [
        (one["type"], Decimal(str(one["amount"])), Decimal(str(one["balanceAfter"])))
        for one in reversed(rows)
    ]


async def collect(treasury: Treasury) -> None:
    """Take what is due, as the chore does, until nothing is left that can be taken."""
    has_more = True
    while has_more:
        async with treasury.services.pool.transaction() as db:
            has_more = await COLLECTING.run(db, JOB)


async def say(treasury: Treasury, withdrawal_id: str, state: Any) -> None:
    """Let the bank think otherwise of a payout, and tell of it."""
    treasury.bank.states[treasury.reference(withdrawal_id)] = state
    await treasury.hear(withdrawal_id)
    await treasury.work()


async def test_the_fee_leaves_the_wallet_with_its_own_line(treasury: Treasury) -> None:
    """Once, in the transaction that tells it; the line leads to the fee's transaction."""
    treasury.bank.fee = Decimal(10)
    asked = await treasury.withdraw(400)
    await treasury.work()
    await say(treasury, asked["id"], "completed")
    assert await treasury.wallet() == (590, 590)
    assert await statement(treasury) == [
        ("wallet_deposit", 1000, 1000), ("withdrawal", -400, 600), ("fee", -10, 590),
    ]  # fmt: skip
    [line] = (await treasury.api.get("/v1/wallet/statement?limit=1", status=200)).data
    assert line["source"] == {"type": "withdrawal", "id": asked["id"]}
    seen = await treasury.sql.fetchrow(
        "SELECT id, type, amount, reference FROM transactions WHERE book_id = $1 AND type = 'fee'",
        treasury.book_id,
    )
    assert (line["transactionId"], line["reference"]) == (str(seen["id"]), seen["reference"])
    assert seen["amount"] == 10
    assert await treasury.faults() == []


async def test_a_fee_that_the_wallet_lacks_is_due_and_taken_as_money_comes_in(
    treasury: Treasury,
) -> None:
    """No wallet falls below zero: `verify` names what is due until the wallet has given it."""
    treasury.bank.fee = Decimal(10)
    await treasury.withdraw(997)
    await treasury.work()
    assert await treasury.wallet() == (0, 0)
    [fault] = await treasury.faults()
    assert fault.subject == "payout due"
    assert "7 of what the provider took" in fault.what
    await collect(treasury)
    await treasury.fill(4)
    await collect(treasury)
    assert await treasury.wallet() == (0, 0)
    await treasury.fill(100)
    await treasury.withdraw(97)
    assert await treasury.wallet() == (97, 0)
    assert await treasury.faults() == []
    fees = [amount for kind, amount, _ in await statement(treasury) if kind == "fee"]
    assert fees == [-3, -4, -3]


async def test_collecting_beside_withdrawals_takes_each_due_once(treasury: Treasury) -> None:
    """Chores and requests at once: neither waits for the other, and nothing is taken twice."""
    treasury.bank.fee = Decimal(5)
    for amount in (300, 300, 400):
        await treasury.withdraw(amount)
    await treasury.work()
    await treasury.fill(1000)
    asks = [treasury.ask(10) for _ in range(8)]
    await asyncio.gather(*asks, *(collect(treasury) for _ in range(4)))
    await collect(treasury)
    due = "SELECT sum(fee_due + amount_due) FROM withdrawals WHERE book_id = $1"
    assert await treasury.sql.fetchval(due, treasury.book_id) == 0
    assert await treasury.wallet() == (985, 905)
    assert await treasury.faults() == []


async def test_a_fee_that_the_provider_raises_is_booked_to_what_it_says(
    treasury: Treasury,
) -> None:
    """Told later or higher, the difference leaves the wallet; told lower, people decide."""
    asked = await treasury.withdraw(400)
    await treasury.work()
    for fee, left in ((10, 590), (25, 575), (20, 575), (25, 575)):
        treasury.bank.fee = Decimal(fee)
        await say(treasury, asked["id"], "completed")
        assert await treasury.wallet() == (left, left)
    assert (await treasury.look(asked["id"]))["fee"] == 25
    assert await treasury.faults() == []


@pytest.mark.parametrize("manner", ["refused", "failed"])
async def test_one_called_failed_that_completes_is_booked(treasury: Treasury, manner: Any) -> None:
    """The money leaves the wallet after all, the event says so, and people are to look."""
    treasury.bank.fee = Decimal(10)
    treasury.bank.manners.append(manner)
    asked = await treasury.withdraw(400)
    await treasury.work()
    for _ in range(2):
        await say(treasury, asked["id"], "completed")
    done = await treasury.look(asked["id"])
    assert (done["status"], done["fee"], done["failureReason"]) == ("completed", 10, None)
    assert await treasury.wallet() == (590, 590)
    reasons = [("requested", None), ("failed", "the account is closed"), ("completed", None)]
    assert await treasury.events() == reasons
    frozen = (await treasury.api.get(SWITCH, status=200)).data
    assert (frozen["frozen"], frozen["frozenBy"]) == (True, "Tillhouse")
    seen = await treasury.sql.fetchval(
        "SELECT status FROM transactions WHERE book_id = $1 AND id = $2",
        treasury.book_id,
        UUID(done["transactionId"]),
    )
    assert seen == "successful"
    assert await treasury.faults() == []


async def test_one_that_completes_after_its_money_was_spent_is_due(treasury: Treasury) -> None:
    """The wallet gives what it has, the rest when it comes in; sent back, all of it returns."""
    treasury.bank.manners.append("failed")
    asked = await treasury.withdraw(400)
    await treasury.work()
    await treasury.withdraw(900)
    await treasury.work()
    await say(treasury, asked["id"], "completed")
    assert await treasury.wallet() == (0, 0)
    [fault] = await treasury.faults()
    assert (fault.subject, fault.id) == ("payout due", asked["id"])
    assert "300 of what the provider took" in fault.what
    await treasury.fill(50)
    await collect(treasury)
    assert await treasury.wallet() == (0, 0)
    await say(treasury, asked["id"], "reversed")
    assert await treasury.status(asked["id"]) == "reversed"
    assert await treasury.wallet() == (150, 150)
    assert await treasury.faults() == []


async def test_the_last_word_of_a_wavering_provider_counts(treasury: Treasury) -> None:
    """Completed, failed, completed, reversed, completed: booked each time, and proven."""
    asked = await treasury.withdraw(400)
    await treasury.work()
    for state, left in (
        ("failed", 1000),
        ("completed", 600),
        ("reversed", 1000),
        ("completed", 600),
    ):
        await say(treasury, asked["id"], state)
        assert await treasury.wallet() == (left, left)
        assert await treasury.faults() == []
    assert await treasury.status(asked["id"]) == "completed"


@pytest.mark.parametrize(
    ("older", "newer", "left"), [("completed", "failed", 1000), ("failed", "completed", 600)]
)
async def test_an_answer_that_is_older_than_what_is_known(
    treasury: Treasury, older: PayoutState, newer: PayoutState, left: int
) -> None:
    """A slow answer that is overtaken books nothing: the provider is asked anew."""
    treasury.bank.manners.append("slow")
    asked = await treasury.withdraw(400)
    await treasury.work()
    reference = treasury.reference(asked["id"])
    await treasury.hear(asked["id"])
    # Later than the job that was queued just now, by the clock of the database as well.
    runner, at = treasury.runner(), now() + timedelta(seconds=1)
    treasury.bank.states[reference] = older

    async def end_meanwhile() -> None:
        treasury.bank.on_look = None
        treasury.bank.states[reference] = newer
        await treasury.hear(asked["id"])
        await treasury.work()

    treasury.bank.on_look = end_meanwhile
    await runner.run_due(at)
    for _ in range(2):
        assert await treasury.status(asked["id"]) == newer
        assert await treasury.wallet() == (left, left)
        await treasury.work()
    assert (await treasury.api.get(SWITCH, status=200)).data["frozen"] is False
    assert await treasury.faults() == []
