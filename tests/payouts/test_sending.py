"""Money leaves once, whatever the provider does, and the states are true."""

import pytest

from tests.payouts.bank import Manner
from tests.payouts.treasury import DAY, HOUR, MINUTES_5, WITHDRAWALS, Treasury


async def test_a_withdrawal_is_held_then_sent(treasury: Treasury) -> None:
    """The amount is held when it is requested, and leaves the wallet when it is sent."""
    treasury.bank.fee = 10
    asked = await treasury.withdraw(400, narration="Takings", reference="P-1")
    assert (asked["status"], asked["amount"], asked["reference"]) == ("requested", 400, "P-1")
    assert await treasury.wallet() == (1000, 600)
    await treasury.work()
    done = await treasury.look(asked["id"])
    assert (done["status"], done["fee"]) == ("completed", 10)
    assert done["providerReference"] == f"bank-{treasury.reference(asked['id'])}"
    assert await treasury.wallet() == (590, 590)
    assert await treasury.events() == [("requested", None), ("completed", None)]
    assert await treasury.faults() == []


@pytest.mark.parametrize("manner", ["broken", "bug", "late"])
async def test_an_unclear_call_is_looked_up_and_never_repeated(
    treasury: Treasury, manner: Manner
) -> None:
    """It was executed, though no answer said so: the first look finds it."""
    treasury.bank.manners.append(manner)
    asked = await treasury.withdraw(400)
    await treasury.work()
    assert await treasury.status(asked["id"]) == "processing"
    assert await treasury.wallet() == (600, 600)
    treasury.bank.catch_up()
    await treasury.work()
    assert await treasury.status(asked["id"]) == "processing"
    await treasury.work(MINUTES_5)
    assert await treasury.status(asked["id"]) == "completed"
    reference = treasury.reference(asked["id"])
    assert (treasury.bank.paid[reference], treasury.bank.asked[reference]) == (1, 1)
    assert await treasury.faults() == []


async def test_a_call_that_was_lost_is_sent_again_after_an_hour(treasury: Treasury) -> None:
    """A provider that doesn't know it for an hour never got it; the reference stays the same."""
    treasury.bank.manners.append("lost")
    asked = await treasury.withdraw(400)
    reference = treasury.reference(asked["id"])
    for after in (MINUTES_5, HOUR):
        await treasury.work()
        assert (await treasury.status(asked["id"]), treasury.bank.asked[reference]) == (
            "processing",
            1,
        )
        await treasury.work(after)
    await treasury.age(asked["id"], HOUR)
    await treasury.work(DAY)
    assert await treasury.status(asked["id"]) == "completed"
    assert treasury.bank.paid == {reference: 1}


async def test_a_call_that_comes_through_late_beside_its_repetition_pays_once(
    treasury: Treasury,
) -> None:
    """The provider pays a reference once, whichever call comes first."""
    treasury.bank.manners.append("late")
    asked = await treasury.withdraw(400)
    await treasury.work()
    await treasury.age(asked["id"], HOUR)
    await treasury.work(MINUTES_5)
    treasury.bank.catch_up()
    assert await treasury.status(asked["id"]) == "completed"
    assert treasury.bank.paid == {treasury.reference(asked["id"]): 1}


@pytest.mark.parametrize("manner", ["late", "killed"])
async def test_a_repetition_is_on_its_way_as_long_as_the_first_call(
    treasury: Treasury, manner: Manner
) -> None:
    """Without an answer it is only asked about for an hour, also by another worker."""
    treasury.bank.manners.extend(["lost", manner, "refused"])
    asked = await treasury.withdraw(400)
    reference = treasury.reference(asked["id"])
    await treasury.work()
    await treasury.age(asked["id"], HOUR)
    await treasury.work(MINUTES_5)
    assert treasury.bank.asked[reference] == 2
    await treasury.work(DAY)
    assert (await treasury.status(asked["id"]), treasury.bank.asked[reference]) == ("processing", 2)
    treasury.bank.catch_up()
    await treasury.work(DAY)
    assert await treasury.status(asked["id"]) == "completed"
    assert treasury.bank.paid == {reference: 1}
    assert await treasury.faults() == []


async def test_one_that_was_not_reached_is_asked_again(treasury: Treasury) -> None:
    """Nothing was executed, so the same call is made until it arrives."""
    treasury.bank.manners.extend(["away", "away"])
    asked = await treasury.withdraw(400)
    for _ in range(3):
        await treasury.work(DAY)
    reference = treasury.reference(asked["id"])
    assert await treasury.status(asked["id"]) == "completed"
    assert (treasury.bank.paid[reference], treasury.bank.asked[reference]) == (1, 3)


@pytest.mark.parametrize("manner", ["refused", "failed"])
async def test_a_failure_gives_everything_back(treasury: Treasury, manner: Manner) -> None:
    """The amount is in the wallet again, and counts against no limit."""
    treasury.bank.manners.append(manner)
    asked = await treasury.withdraw(1000)
    await treasury.work()
    failed = await treasury.look(asked["id"])
    assert (failed["status"], failed["failureReason"]) == ("failed", "the account is closed")
    assert await treasury.wallet() == (1000, 1000)
    assert await treasury.events() == [("requested", None), ("failed", "the account is closed")]
    assert await treasury.faults() == []
    await treasury.withdraw(1000)


@pytest.mark.parametrize(("before", "ends"), [("lost", "failed"), ("late", "completed")])
async def test_a_refused_repetition_ends_as_the_provider_knows(
    treasury: Treasury, before: Manner, ends: str
) -> None:
    """It failed where nobody knows of the call before it; else that one counts."""
    treasury.bank.manners.append(before)
    asked = await treasury.withdraw(400)
    await treasury.work()
    await treasury.age(asked["id"], HOUR)
    treasury.bank.manners.append("refused")
    treasury.bank.on_refusal = treasury.bank.catch_up
    await treasury.work(MINUTES_5)
    assert await treasury.status(asked["id"]) == ends
    assert await treasury.wallet() == ((1000, 1000) if ends == "failed" else (600, 600))
    assert await treasury.faults() == []


async def test_a_slow_one_is_looked_up_until_it_ends(treasury: Treasury) -> None:
    """`processing` is no end: the next look is an hour later, then a day."""
    treasury.bank.manners.append("slow")
    asked = await treasury.withdraw(400)
    await treasury.work()
    await treasury.work(MINUTES_5)
    assert await treasury.status(asked["id"]) == "processing"
    treasury.bank.states[treasury.reference(asked["id"])] = "completed"
    await treasury.work(MINUTES_5)
    assert await treasury.status(asked["id"]) == "processing"
    await treasury.work(HOUR)
    assert await treasury.status(asked["id"]) == "completed"


async def test_a_success_that_is_reversed_comes_back(treasury: Treasury) -> None:
    """The wallet is credited again but for the fee, which the provider keeps."""
    treasury.bank.fee = 10
    asked = await treasury.withdraw(400)
    await treasury.work()
    treasury.bank.states[treasury.reference(asked["id"])] = "reversed"
    for _ in range(2):
        await treasury.hear(asked["id"])
        await treasury.work()
    assert await treasury.status(asked["id"]) == "reversed"
    assert await treasury.wallet() == (990, 990)
    assert (await treasury.events())[1:] == [("completed", None), ("failed", "reversed")]
    assert await treasury.faults() == []


@pytest.mark.parametrize("states", [("completed", "failed"), ("failed", "completed")])
async def test_hooks_in_any_order_and_twice_leave_the_truth(
    treasury: Treasury, states: tuple[str, str]
) -> None:
    """A hook is a hint: the provider is asked, and what it says last is what counts."""
    treasury.bank.manners.append("slow")
    asked = await treasury.withdraw(400)
    await treasury.work()
    for state in states:
        treasury.bank.states[treasury.reference(asked["id"])] = state
        await treasury.hear(asked["id"])
        await treasury.hear(asked["id"])
        await treasury.work()
    ended = await treasury.status(asked["id"])
    left = 1000 if states[0] == "completed" else 600
    assert ended == ("reversed" if states[0] == "completed" else "completed")
    assert await treasury.wallet() == (left, left)
    assert await treasury.faults() == []
    frozen = (await treasury.api.get("/v1/wallet/payouts", status=200)).data["frozen"]
    assert frozen is (states[0] == "failed")


async def test_a_hook_about_nothing_known_is_let_go(treasury: Treasury) -> None:
    """A reference of another book, or of nothing, changes nothing."""
    await treasury.hear("0199a7c0-0000-7000-8000-000000000000")
    await treasury.work()
    assert treasury.bank.asked == {}


async def test_a_cancelled_withdrawal_is_never_sent(treasury: Treasury) -> None:
    """The amount is free again; cancelling twice is cancelling once."""
    asked = await treasury.withdraw(400)
    for _ in range(2):
        path = f"{WITHDRAWALS}/{asked['id']}/cancel"
        assert (await treasury.api.post(path, status=200)).data["status"] == "cancelled"
    await treasury.work()
    assert treasury.bank.asked == {}
    assert await treasury.wallet() == (1000, 1000)
    assert await treasury.events() == [("requested", None), ("failed", "cancelled")]
    assert await treasury.faults() == []


async def test_one_that_was_sent_is_not_cancelled(treasury: Treasury) -> None:
    """409, also when it has failed or is completed."""
    asked = await treasury.withdraw(400)
    await treasury.work()
    await treasury.api.post(f"{WITHDRAWALS}/{asked['id']}/cancel", status=409)
