"""A transaction whose answers change is booked for what it comes to, once, in any order."""

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from itertools import permutations

import pytest

from tests.payins.collecting import Collecting
from tests.payins.test_recording import seen
from tillhouse.kit.clock import now
from tillhouse.payins.recording import record
from tillhouse.payins.types import VirtualAccount
from tillhouse.providers.payments.provider import PaymentState, SeenPayment


def part(amount: int, state: PaymentState = "successful", name: str | None = None) -> SeenPayment:
    """A part of one transaction, named as Monnify's are; 1,000 were asked for."""
    named = name or ("t-1" if amount == 1000 else f"t-1#{amount}")
    return seen(transaction_id=named, amount=Decimal(amount), fee=Decimal(0), state=state)


async def tell(till: Collecting, account: VirtualAccount | None, *told: SeenPayment) -> int:
    """Record an answer in a transaction of its own; how many payments were news."""
    async with till.services.pool.transaction() as db:
        return await record(db, till.origin, told, account, now())


async def age(till: Collecting) -> None:
    """Let two hours pass."""
    await till.sql.execute(
        """
        UPDATE payins SET created_at = created_at - interval '2 h',
            reversed_at = reversed_at - interval '2 h',
            applied_at = applied_at - interval '2 h'
        WHERE book_id = $1
        """,
        till.book.id,
    )


WHOLE = [part(1000)]
PARTS = [part(600), part(400)]
MORE = [part(600), part(400), part(500)]
MORE_WHOLE = [part(1500)]


@pytest.mark.parametrize(
    "answers", [*permutations([WHOLE, PARTS, MORE, MORE_WHOLE]), [PARTS, WHOLE, MORE]]
)
async def test_answers_with_and_without_parts_come_to_the_same(
    till: Collecting, answers: Sequence[Sequence[SeenPayment]]
) -> None:
    """In any order, all that came is booked, and nothing of it twice."""
    account = await till.account()
    for told in answers:
        await tell(till, account, *told)
    assert sum(payin["amount"] for payin in await till.payins()) == 1500
    assert await till.balance("wallet") == 1500
    for told in answers:
        assert await tell(till, account, *told) == 0
    await till.work()
    assert sum(amount for _, _, amount in till.applied) == 1500
    assert await till.faults() == []


async def test_answers_at_once_come_to_the_same(till: Collecting) -> None:
    """Fifty workers hear of one transaction in four ways at the same moment."""
    account = await till.account()
    answers = [WHOLE, PARTS, MORE, MORE_WHOLE] * 12
    news = await asyncio.gather(*(tell(till, account, *told) for told in answers))
    assert sum(payin["amount"] for payin in await till.payins()) == 1500
    assert sum(news) == len(await till.payins())
    assert await till.faults() == []


async def test_an_amount_that_grew_is_booked_by_what_it_grew(till: Collecting) -> None:
    """Under the provider's one id: the difference is a payment of its own, with its fee."""
    await tell(till, None, seen())
    grown = seen(amount=Decimal(1500), fee=Decimal(20))
    assert await tell(till, None, grown) == 1
    assert await tell(till, None, grown) == 0
    assert [(p["amount"], p["fee"]) for p in await till.payins()] == [(1000, 15), (500, 5)]
    assert await till.balance("unapplied_receipts") == 1500
    assert await till.faults() == []


async def test_a_payment_that_went_back_and_came_again_is_booked_again(till: Collecting) -> None:
    """An hour later; sooner, the answer may be from before it went back."""
    account = await till.account()
    good, bad = seen(reference=account.reference), seen(state="reversed")
    await tell(till, account, good)
    await till.work()
    assert await tell(till, account, bad) == 1
    await till.work()
    assert await till.balance("wallet") == 0
    assert await tell(till, account, good) == 0
    await age(till)
    assert await tell(till, account, good) == 1
    assert await tell(till, account, good) == 0
    await till.work()
    assert await till.balance("wallet") == 985
    assert [verb for verb, _, _ in till.applied] == ["applied", "taken back", "applied"]
    assert await tell(till, account, bad) == 1
    assert await tell(till, account, bad) == 0
    await till.work()
    assert await till.balance("wallet") == 0
    assert [payin["status"] for payin in await till.payins()] == ["reversed", "reversed"]
    assert await till.faults() == []


async def test_a_transaction_that_goes_back_takes_all_its_parts_along(till: Collecting) -> None:
    """Known ones, and one that was not recorded before."""
    account = await till.account()
    await tell(till, account, *PARTS)
    back = [part(600, "reversed"), part(400, "reversed"), part(500, "reversed")]
    assert await tell(till, account, *back) == 3
    assert await tell(till, account, *back) == 0
    assert {payin["status"] for payin in await till.payins()} == {"reversed"}
    assert await till.balance("wallet") == 0
    assert await till.faults() == []


async def test_less_than_was_recorded_is_a_fault_until_it_agrees(till: Collecting) -> None:
    """Nothing is taken away by itself: the audit log says what the provider tells."""
    account = await till.account()
    await tell(till, account, seen())
    less = seen(amount=Decimal(900))
    assert await tell(till, account, less) == 0
    assert await till.faults() == []
    await age(till)
    for _ in range(2):
        assert await tell(till, account, less) == 0
    [fault] = [one for one in await till.faults() if "tells of less" in str(one)]
    assert fault
    assert await till.balance("wallet") == 985
    query = """
        SELECT metadata::jsonb ->> 'told' FROM audit_events
        WHERE business_id = $1 AND event_type = 'payin.differs'
    """
    assert [row[0] for row in await till.sql.fetch(query, till.origin.business_id)] == ["900 NGN"]
    await tell(till, account, seen())
    assert [one for one in await till.faults() if "tells of less" in str(one)] == []
