"""Refunds that went back though they had failed, beside others of the same payment.

Both can't be true: the others are asked about first, whichever message comes first.
"""

import asyncio
from decimal import Decimal

import pytest

from tests.orders.returning.giving import DAY, HOUR, MINUTES_5, Giving
from tests.orders.shop import Body
from tillhouse.kit.clock import now

# Of 10,000 that came in for something else, and 1,000.
_FILLED = Decimal(9850 + 985)


async def _failed(till: Giving, order: Body, amount: int) -> Body:
    """A refund that its provider did not give."""
    till.bank.manners.append("failed")
    refund = await till.asked(order, amount=amount)
    await till.send()
    return refund


async def _statuses(till: Giving, order: Body) -> list[str]:
    return [one["status"] for one in (await till.show(order))["refunds"]]


async def _tell(till: Giving, *refunds: Body) -> None:
    """The provider tells of some refunds, in this order."""
    for refund in refunds:
        await till.hear(refund)
        await till.send()


async def _is_booked_once(till: Giving, order: Body) -> None:
    """400 of 1,000 went back, and all that shows money says so."""
    shown = await till.show(order)
    assert (shown["amountPaid"], shown["refundedAmount"]) == (600, 400)
    assert _FILLED - await till.wallet() == 400
    assert await till.held() == 0
    assert await till.faults(till.services) == []


async def test_one_that_went_back_while_another_has_its_money(till: Giving) -> None:
    """It waits for the other, which is on its way and fails, and is booked then: once, whole."""
    order = await till.sold()
    late = await _failed(till, order, 400)
    till.bank.manners.append("slow")
    other = await till.asked(order, amount=1000)
    await till.send()
    till.bank.refunds[till.reference(late)] = "successful"
    await _tell(till, late, late)
    assert await _statuses(till, order) == ["failed", "pending"]
    till.bank.refunds[till.reference(other)] = "failed"
    for after in (MINUTES_5, HOUR, DAY):
        await till.send(after)
    assert await _statuses(till, order) == ["successful", "failed"]
    await _is_booked_once(till, order)


async def test_one_that_went_back_while_another_is_not_sent_yet(till: Giving) -> None:
    """The provider refuses the other, since the money is gone: that makes it free here."""
    order = await till.sold()
    late = await _failed(till, order, 400)
    other = await till.asked(order, amount=1000)
    await till.sql.execute(
        "UPDATE jobs SET due_at = now() + interval '1 day' WHERE book_id = $1 AND kind = 'refund'",
        till.book,
    )
    till.bank.refunds[till.reference(late)] = "successful"
    await _tell(till, late)
    assert await _statuses(till, order) == ["failed", "pending"]
    assert till.reference(other) not in till.bank.wanted
    till.bank.manners.append("refused")
    await till.send(DAY)
    await till.send()
    assert await _statuses(till, order) == ["successful", "failed"]
    await _is_booked_once(till, order)


@pytest.mark.parametrize("is_other_told", [True, False])
async def test_one_that_went_back_since_another_came_home(
    till: Giving, is_other_told: bool
) -> None:
    """The other had succeeded. The late one is told of first, or alone: the other is asked."""
    order = await till.sold()
    late = await _failed(till, order, 400)
    other = await till.asked(order, amount=1000)
    await till.send()
    assert (await till.show(order))["status"] == "refunded"
    till.bank.refunds[till.reference(other)] = "failed"
    till.bank.refunds[till.reference(late)] = "successful"
    await _tell(till, late, *([other] if is_other_told else []))
    await till.send()
    assert await _statuses(till, order) == ["successful", "reversed"]
    await _is_booked_once(till, order)


async def test_both_are_heard_of_at_once(till: Giving) -> None:
    """In any order of the workers that ask, the same money went back."""
    for _ in range(5):
        order, before = await till.sold(), await till.wallet()
        late = await _failed(till, order, 400)
        other = await till.asked(order, amount=1000)
        await till.send()
        till.bank.refunds[till.reference(other)] = "failed"
        till.bank.refunds[till.reference(late)] = "successful"
        await till.hear(late)
        await till.hear(other)
        await asyncio.gather(*(till.runner().run_due(now()) for _ in range(4)))
        await till.send()
        await till.send()
        assert await _statuses(till, order) == ["successful", "reversed"]
        assert before - await till.wallet() == 400
        assert (await till.show(order))["amountPaid"] == 600


async def test_a_provider_that_gives_more_than_came_is_asked_and_not_believed(
    till: Giving,
) -> None:
    """1,400 of 1,000: nothing is booked of the second, however often it is told."""
    order = await till.sold()
    late = await _failed(till, order, 400)
    await till.asked(order, amount=1000)
    await till.send()
    till.bank.refunds[till.reference(late)] = "successful"
    await _tell(till, late, late)
    assert await _statuses(till, order) == ["failed", "successful"]
    assert _FILLED - await till.wallet() == 1000
    queued = "SELECT count(*) FROM jobs WHERE book_id = $1 AND kind = 'refund_heard'"
    assert await till.sql.fetchval(queued, till.book) == 0


async def test_an_answer_that_is_older_than_what_is_known(till: Giving) -> None:
    """A look that was answered before another one and ends after it: the provider is asked anew."""
    order = await till.sold()
    till.bank.manners.append("slow")
    refund = await till.asked(order, amount=400)
    await till.send()
    reference = till.reference(refund)
    till.bank.refunds[reference] = "failed"
    await till.hear(refund)

    async def succeed_meanwhile() -> None:
        till.bank.on_look = None
        till.bank.refunds[reference] = "successful"
        await _tell(till, refund)
        assert await _statuses(till, order) == ["successful"]

    till.bank.on_look = succeed_meanwhile
    for _ in range(2):
        await till.send()
        assert await _statuses(till, order) == ["successful"]
    await _is_booked_once(till, order)
