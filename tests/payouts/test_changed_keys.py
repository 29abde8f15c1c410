"""A payout whose answer was lost is sent again by the account that was asked, and by no other."""

import hashlib
from uuid import UUID

import pytest

from tests.payouts.treasury import DAY, HOUR, MINUTES_5, Treasury
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.payouts.room import kinds


async def test_another_account_is_no_witness(treasury: Treasury) -> None:
    """It knows nothing of a payout by the one before, and pays none a second time."""
    treasury.bank.manners.append("broken")
    asked = await treasury.withdraw(400)
    reference = treasury.reference(asked["id"])
    await treasury.work()
    treasury.bank.change_account("second")
    for _ in range(2):
        await treasury.age(asked["id"], HOUR)
        await treasury.work(DAY)
    assert await treasury.status(asked["id"]) == "processing"
    assert (treasury.bank.paid[reference], treasury.bank.asked[reference]) == (1, 1)
    treasury.bank.change_account("first")
    await treasury.work(DAY)
    assert await treasury.status(asked["id"]) == "completed"
    assert await treasury.faults() == []


async def test_a_changed_key_of_the_account_asks_again(treasury: Treasury) -> None:
    """It knows as much as the one before: what it doesn't know was not paid."""
    treasury.bank.manners.append("lost")
    asked = await treasury.withdraw(400)
    reference = treasury.reference(asked["id"])
    await treasury.work()
    treasury.bank.change_key("second")
    await treasury.age(asked["id"], HOUR)
    await treasury.work(DAY)
    assert await treasury.status(asked["id"]) == "completed"
    assert (treasury.bank.paid[reference], treasury.bank.asked[reference]) == (1, 2)
    assert await treasury.faults() == []


@pytest.mark.parametrize("unnamed", ["the first", "the second", "both"])
async def test_a_key_of_an_unknown_account_asks_for_nothing_again(
    treasury: Treasury, unnamed: str
) -> None:
    """Only the secret tells that it is the same; with it, the name may be known or not."""
    treasury.bank.account = None if unnamed != "the second" else "first"
    treasury.bank.manners.append("lost")
    asked = await treasury.withdraw(400)
    reference = treasury.reference(asked["id"])
    await treasury.work()
    treasury.bank.change_key("second")
    treasury.bank.account = None if unnamed != "the first" else "first"
    for _ in range(2):
        await treasury.age(asked["id"], HOUR)
        await treasury.work(DAY)
    assert await treasury.status(asked["id"]) == "processing"
    assert treasury.bank.asked[reference] == 1
    treasury.bank.change_key("first")
    treasury.bank.account = "first"
    await treasury.work(DAY)
    assert await treasury.status(asked["id"]) == "completed"
    assert treasury.bank.paid[reference] == 1


@pytest.mark.parametrize(
    ("key", "asks"), [("first", 2), ("second", 1), (None, 1)], ids=["same", "another", "unmarked"]
)
async def test_the_mark_of_an_earlier_version_counts(
    treasury: Treasury, key: str | None, asks: int
) -> None:
    """It was the bare digest of the secret; still earlier ones left none, and prove nothing."""
    treasury.bank.manners.append("lost")
    asked = await treasury.withdraw(400)
    await treasury.work()
    await treasury.sql.execute(
        "UPDATE withdrawals SET asked_with = $2 WHERE id = $1",
        UUID(asked["id"]),
        None if key is None else hashlib.sha256(key.encode()).digest(),
    )
    await treasury.age(asked["id"], HOUR)
    await treasury.work(DAY)
    assert treasury.bank.asked[treasury.reference(asked["id"])] == asks


async def test_one_whose_provider_is_not_connected_is_not_marked(treasury: Treasury) -> None:
    """Nothing was asked of an account; the first that is connected is asked."""
    asked = await treasury.withdraw(400)

    async def nothing(*_args: object) -> None:
        """Not connected."""

    every = kinds(treasury.services, nothing)
    runner = JobRunner(treasury.services.pool, every, treasury.services.job_results)
    await runner.run_due(now())
    query = "SELECT status, is_unclear, asked_at, asked_with FROM withdrawals WHERE id = $1"
    row = await treasury.sql.fetchrow(query, UUID(asked["id"]))
    assert row is not None
    assert tuple(row) == ("processing", False, None, None)
    await treasury.work(MINUTES_5)
    assert await treasury.status(asked["id"]) == "completed"


async def test_one_that_was_not_reached_goes_by_the_account_that_is_connected(
    treasury: Treasury,
) -> None:
    """Nothing was executed by the one before; the later one is the one that repeats."""
    treasury.bank.manners.extend(["away", "lost"])
    asked = await treasury.withdraw(400)
    reference = treasury.reference(asked["id"])
    await treasury.work()
    treasury.bank.change_account("second")
    await treasury.work(HOUR)
    await treasury.age(asked["id"], HOUR)
    await treasury.work(DAY)
    assert await treasury.status(asked["id"]) == "completed"
    assert (treasury.bank.paid[reference], treasury.bank.asked[reference]) == (1, 3)
