"""Money goes back once through its provider, whatever that does, and the states are true."""

import asyncio
from decimal import Decimal

import pytest

from tests.orders.returning.giving import DAY, HOUR, MINUTES_5, Giving
from tests.payouts.bank import Manner

_FILLED = Decimal("9850.00")


async def test_a_refund_is_held_then_sent_then_booked(till: Giving) -> None:
    """Until the provider has given it back, the order is paid and the wallet holds it."""
    order = await till.sold(1000)
    asked = await till.asked(order, amount=1000, reason="Cold")
    shown = await till.show(order)
    assert (asked["status"], asked["provider"]) == ("pending", "sandbox")
    assert (asked["transactionId"], asked["providerRefundId"]) == (None, None)
    assert (shown["amountPaid"], shown["refundedAmount"], shown["status"]) == (1000, 0, "completed")
    assert asked["paymentId"] == order["payments"][0]["id"]
    assert await till.held() == 1000
    await till.send()
    done = await till.show(order)
    [refund] = done["refunds"]
    assert (refund["status"], refund["amount"], refund["reason"]) == ("successful", 1000, "Cold")
    assert refund["providerRefundId"] == f"bank-{till.reference(refund)}"
    assert (done["amountPaid"], done["refundedAmount"], done["status"]) == (0, 1000, "refunded")
    assert refund["by"] == asked["by"]
    assert await till.held() == 0
    # The fee of the payment stays with the provider.
    assert await till.wallet() == _FILLED - 15
    assert (await till.transactions())[-1] == ("refund", "cloove_pay", Decimal(-1000))
    assert await till.told() == [(order["id"], "successful")]


@pytest.mark.parametrize(("before", "ends"), [("lost", "failed"), ("late", "successful")])
async def test_a_refused_repetition_ends_as_the_provider_knows(
    till: Giving, before: Manner, ends: str
) -> None:
    """It failed where nobody knows of the call before it; else that one counts."""
    till.bank.manners.append(before)
    order = await till.sold()
    asked = await till.asked(order, amount=400)
    await till.send()
    await till.age(asked, HOUR)
    till.bank.manners.append("refused")
    till.bank.on_refusal = till.bank.catch_up
    await till.send(MINUTES_5)
    assert (await till.refund_of(order))["status"] == ends
    assert await till.held() == 0


@pytest.mark.parametrize("manner", ["broken", "bug", "late"])
async def test_an_unclear_call_is_looked_up_and_never_repeated(
    till: Giving, manner: Manner
) -> None:
    """It was executed, though no answer said so: the first look finds it."""
    till.bank.manners.append(manner)
    order = await till.sold()
    asked = await till.asked(order, amount=400)
    await till.send()
    assert (await till.refund_of(order))["status"] == "pending"
    till.bank.catch_up()
    await till.send()
    assert (await till.refund_of(order))["status"] == "pending"
    await till.send(MINUTES_5)
    assert (await till.refund_of(order))["status"] == "successful"
    reference = till.reference(asked)
    assert (till.bank.returned[reference], till.bank.wanted[reference]) == (1, 1)


async def test_a_call_that_was_lost_is_sent_again_after_an_hour(till: Giving) -> None:
    """A provider that doesn't know it for an hour never got it; the reference stays the same."""
    till.bank.manners.append("lost")
    order = await till.sold()
    asked = await till.asked(order, amount=400)
    reference = till.reference(asked)
    for after in (MINUTES_5, HOUR):
        await till.send()
        status = (await till.refund_of(order))["status"]
        assert (status, till.bank.wanted[reference]) == ("pending", 1)
        await till.send(after)
    await till.age(asked, HOUR)
    await till.send(DAY)
    assert (await till.refund_of(order))["status"] == "successful"
    assert till.bank.returned[reference] == 1


async def test_another_account_is_no_witness(till: Giving) -> None:
    """It refuses a payment that it never took, which says nothing of a refund by the one before."""
    till.bank.manners.extend(["broken", "refused"])
    order = await till.sold()
    asked = await till.asked(order, amount=400)
    reference = till.reference(asked)
    await till.send()
    till.bank.change_account("second")
    await till.age(asked, HOUR)
    await till.send(DAY)
    status = (await till.refund_of(order))["status"]
    assert (status, till.bank.wanted[reference]) == ("pending", 1)
    till.bank.change_account("first")
    await till.send(DAY)
    assert (await till.refund_of(order))["status"] == "successful"
    assert till.bank.returned == {reference: 1}


async def test_a_changed_key_of_the_account_asks_again(till: Giving) -> None:
    """It knows as much as the one before: what it doesn't know was not given back."""
    till.bank.manners.append("lost")
    order = await till.sold()
    asked = await till.asked(order, amount=400)
    await till.send()
    till.bank.change_key("second")
    await till.age(asked, HOUR)
    await till.send(DAY)
    assert (await till.refund_of(order))["status"] == "successful"
    assert till.bank.wanted == {till.reference(asked): 2}
    assert till.bank.returned == {till.reference(asked): 1}


@pytest.mark.parametrize("manner", ["late", "killed"])
async def test_a_repetition_is_on_its_way_as_long_as_the_first_call(
    till: Giving, manner: Manner
) -> None:
    """Without an answer it is only asked about for an hour, also by another worker."""
    till.bank.manners.extend(["lost", manner, "refused"])
    order = await till.sold()
    asked = await till.asked(order, amount=400)
    reference = till.reference(asked)
    await till.send()
    await till.age(asked, HOUR)
    await till.send(MINUTES_5)
    assert till.bank.wanted[reference] == 2
    await till.send(DAY)
    status = (await till.refund_of(order))["status"]
    assert (status, till.bank.wanted[reference]) == ("pending", 2)
    till.bank.catch_up()
    await till.send(DAY)
    assert (await till.refund_of(order))["status"] == "successful"
    assert till.bank.returned == {reference: 1}


async def test_one_that_was_not_reached_is_asked_again(till: Giving) -> None:
    """Nothing was executed, so the same call is made until it arrives."""
    till.bank.manners.extend(["away", "away"])
    order = await till.sold()
    asked = await till.asked(order, amount=400)
    for _ in range(3):
        await till.send(DAY)
    reference = till.reference(asked)
    assert (await till.refund_of(order))["status"] == "successful"
    assert (till.bank.returned[reference], till.bank.wanted[reference]) == (1, 3)


@pytest.mark.parametrize("manner", ["refused", "failed"])
async def test_a_failure_lets_everything_go(till: Giving, manner: Manner) -> None:
    """Nothing is held, nothing was booked, and as much can be given back as before."""
    till.bank.manners.append(manner)
    order = await till.sold()
    await till.asked(order, amount=1000)
    await till.send()
    failed = await till.show(order)
    [refund] = failed["refunds"]
    assert (refund["status"], refund["failureReason"]) == ("failed", "the payment is too old")
    assert (failed["amountPaid"], failed["status"], await till.held()) == (1000, "completed", 0)
    assert await till.told() == [(order["id"], "failed")]
    await till.asked(order, amount=1000)
    await till.send()
    assert (await till.show(order))["status"] == "refunded"


async def test_a_slow_one_is_looked_up_until_it_ends(till: Giving) -> None:
    """`pending` is no end: the next look is an hour later, then a day."""
    till.bank.manners.append("slow")
    order = await till.sold()
    asked = await till.asked(order, amount=400)
    await till.send()
    await till.send(MINUTES_5)
    pending = await till.refund_of(order)
    assert (pending["status"], pending["providerRefundId"] is None) == ("pending", False)
    till.bank.refunds[till.reference(asked)] = "successful"
    await till.send(MINUTES_5)
    assert (await till.refund_of(order))["status"] == "pending"
    await till.send(HOUR)
    assert (await till.refund_of(order))["status"] == "successful"


async def test_money_that_comes_home_again_is_the_orders(till: Giving) -> None:
    """The provider says that it went back, and later that it did not."""
    order = await till.sold()
    asked = await till.asked(order, amount=1000)
    await till.send()
    till.bank.refunds[till.reference(asked)] = "failed"
    for _ in range(2):
        await till.hear(asked)
        await till.send()
    shown = await till.show(order)
    assert shown["refunds"][0]["status"] == "reversed"
    assert (shown["amountPaid"], shown["refundedAmount"]) == (1000, 0)
    assert (shown["status"], shown["remainingAmount"]) == ("completed", 0)
    assert await till.wallet() == _FILLED + 985
    assert await till.told() == [(order["id"], "successful"), (order["id"], "reversed")]
    await till.asked(order, amount=1000)


@pytest.mark.parametrize("states", [("successful", "failed"), ("failed", "successful")])
async def test_hooks_in_any_order_and_twice_leave_the_truth(
    till: Giving, states: tuple[str, str]
) -> None:
    """A hook is a hint: the provider is asked, and what it says last is what counts."""
    till.bank.manners.append("slow")
    order = await till.sold()
    asked = await till.asked(order, amount=400)
    await till.send()
    for state in states:
        till.bank.refunds[till.reference(asked)] = state  # type: ignore[assignment]
        await till.hear(asked)
        await till.hear(asked)
        await till.send()
    shown = await till.show(order)
    is_back = states[-1] == "successful"
    assert shown["refunds"][0]["status"] == ("successful" if is_back else "reversed")
    assert shown["amountPaid"] == (600 if is_back else 1000)
    assert await till.wallet() == _FILLED + 985 - (400 if is_back else 0)
    assert await till.held() == 0


async def test_money_that_went_back_after_all_is_a_claim_where_the_wallet_is_empty(
    till: Giving,
) -> None:
    """It failed, all was given back by another refund, and then it had gone back all the same."""
    order = await till.sold()
    till.bank.manners.append("failed")
    first = await till.asked(order, amount=1000)
    await till.send()
    await till.give_back(order, amount=1000, method="cash")
    till.bank.refunds[till.reference(first)] = "successful"
    await till.hear(first)
    await till.send()
    shown = await till.show(order)
    assert [one["status"] for one in shown["refunds"]] == ["successful", "successful"]
    assert (shown["amountPaid"], shown["refundedAmount"]) == (0, 1000)
    assert (await till.accounts())["unapplied_receipts"] == 1000


async def test_a_hook_about_nothing_known_is_let_go(till: Giving) -> None:
    """A reference of another book, or of nothing, changes nothing."""
    await till.hear({"id": "0199a7c0-0000-7000-8000-000000000000"})
    await till.send()
    assert not till.bank.asked


async def test_a_hook_that_comes_before_the_answer_ends_it_once(till: Giving) -> None:
    """The answer that is recorded after it finds nothing left to do."""
    till.bank.manners.append("slow")
    order = await till.sold()
    asked = await till.asked(order, amount=400)
    await till.send()
    till.bank.refunds[till.reference(asked)] = "successful"
    await till.hear(asked)
    await till.send()
    soon = till.later(DAY)
    await asyncio.gather(*(till.runner().run_due(soon) for _ in range(3)))
    assert (await till.show(order))["amountPaid"] == 600
    assert [status for _, status in await till.told()] == ["successful"]


async def test_a_refund_of_a_closed_sale_says_when_it_is_booked(till: Giving) -> None:
    """Not today, but when the provider has given it back."""
    order = await till.sold()
    moved = "UPDATE orders SET occurred_at = '2026-01-05T10:00:00Z' WHERE book_id = $1"
    await till.sql.execute(moved, till.book)
    api = await till.business.client("finance:closings:write")
    await api.put("/v1/ledger/closing", {"closed_until": "2026-01-31"}, status=200)
    body = {"amount": 100, "method": "cloove_pay"}
    answer = await till.api.post(f"/v1/orders/{order['id']}/refunds", body, status=201)
    assert answer.json["message"] == (
        "Refund recorded. The books are closed until 2026-01-31, so it is booked on the day on "
        "which it goes back."
    )
