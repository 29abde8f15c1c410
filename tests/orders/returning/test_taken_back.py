"""Money that a provider takes back of a payment is booked once, and never more than came in."""

import asyncio
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tests.finance.method_oracle import by_method
from tests.orders.returning.giving import DAY, HOUR, MINUTES_5, Giving
from tests.orders.shop import Body, fee
from tillhouse.access.callers import Book
from tillhouse.kit.clock import now
from tillhouse.payins.recording import record
from tillhouse.payins.types import Origin
from tillhouse.providers.payments.provider import SeenPayment

# Of 10,000 that came in for something else.
_FILLED = Decimal("9850.00")


async def tell(till: Giving, order: Body, **fields: Any) -> None:
    """The provider is asked about the payment of an order, and says this."""
    row = await till.sql.fetchrow(
        """
        SELECT p.*, k.business_id FROM payins p JOIN books k ON k.id = p.book_id
        WHERE p.book_id = $1 AND p.target_id = $2
        """,
        till.book,
        UUID(order["id"]),
    )
    told: dict[str, Any] = {
        "reference": None,
        "transaction_id": row["provider_transaction_id"],
        "state": "successful",
        "amount": row["amount"],
        "fee": row["fee"],
        "currency": row["currency"],
        **fields,
    }
    origin = Origin(row["business_id"], Book(till.book, "test"), row["provider"])
    async with till.services.pool.transaction() as db:
        await record(db, origin, [SeenPayment(**told)], None, now())
    await till.send()


async def gone(till: Giving) -> Decimal:
    """How much left the wallet since a payment of 1,000 came in, of which 15 was the fee."""
    return _FILLED + 985 - await till.wallet()


async def test_a_part_refund_and_then_a_reversal_take_what_came_in(till: Giving) -> None:
    """400 go back by us, then the provider undoes the payment: of 1,000, not of 1,400."""
    order = await till.sold()
    await till.asked(order, amount=400)
    await till.send()
    back = await till.paid(order, "reversed")
    assert (back["amountPaid"], back["status"]) == (0, "refunded")
    assert [one["amount"] for one in back["refunds"]] == [400, 600]
    assert await gone(till) == 1000 - 15
    assert (await till.accounts()).get("unapplied_receipts", 0) == 0


@pytest.mark.parametrize("ends", ["successful", "failed"])
async def test_a_reversal_while_a_refund_is_on_its_way(till: Giving, ends: str) -> None:
    """The rest goes back at once; the part of the refund when it is known how that ended."""
    order = await till.sold()
    till.bank.manners.append("slow")
    refund = await till.asked(order, amount=400)
    await till.send()
    back = await till.paid(order, "reversed")
    assert back["amountPaid"] == 400
    till.bank.refunds[till.reference(refund)] = "successful" if ends == "successful" else "failed"
    for after in (MINUTES_5, HOUR, DAY):
        await till.send(after)
    done = await till.show(order)
    assert (done["amountPaid"], done["status"]) == (0, "refunded")
    assert await gone(till) == 1000 - 15


async def test_a_refund_on_the_providers_own_pages_is_booked_by_its_amount(till: Giving) -> None:
    """Part by part, each once, however often it is told."""
    order = await till.sold()
    for told in (300, 300, 500, 300):
        await tell(till, order, returned=Decimal(told))
    shown = await till.show(order)
    assert (shown["amountPaid"], shown["refundedAmount"]) == (500, 500)
    assert [one["amount"] for one in shown["refunds"]] == [300, 200]
    assert shown["deposit"]["amountReceived"] == 500
    # The provider says nothing of its fee: it keeps it.
    assert await gone(till) == 500


async def test_a_part_refund_of_ours_and_the_rest_on_its_pages(till: Giving) -> None:
    """In both orders the sum is what came in, and the order is refunded."""
    order = await till.sold()
    await till.asked(order, amount=400)
    await till.send()
    await tell(till, order, returned=Decimal(600))
    shown = await till.show(order)
    assert (shown["amountPaid"], shown["status"]) == (0, "refunded")
    assert await gone(till) == 1000
    other = await till.sold()
    await tell(till, other, returned=Decimal(600))
    await till.asked(other, amount=400)
    await till.send()
    shown = await till.show(other)
    assert (shown["amountPaid"], shown["status"]) == (0, "refunded")
    assert await gone(till) == 2000 - 985


@pytest.mark.parametrize(("beside", "left"), [("change", 500), ("spent", 500), ("kept", 0)])
async def test_an_overpaid_order_is_paid_what_its_payments_less_refunds_come_to(
    till: Giving, beside: str, left: int
) -> None:
    """It keeps what isn't its to give: change in the payer's hands, credit that is spent."""
    ada = await till.customer("Ada")
    order = await till.deposit(1000, customer_id=ada["id"])
    if beside == "change":
        await till.pay(order, 500, "cash")
        await till.paid(order, "exact", 500)
        await till.pay(order, 500, "cash")
    else:
        await till.paid(order, "over", 1500)
    if beside == "spent":
        await till.sell(fee(500), customer_id=ada["id"], amount_paid=500, payment_method="credit")
    before = await till.show(order)
    assert before["amountPaid"] == 1500 == _counted(before)
    back = await till.paid(order, "reversed")
    assert back["amountPaid"] == _counted(back)
    if beside == "change":
        assert (back["amountPaid"], back["changeAmount"], back["status"]) == (
            1000, 500, "completed",
        )  # fmt: skip
        back = await till.give_back(order, amount=500, method="cash")
    assert (back["amountPaid"], back["status"]) == (left, "refunded")
    assert back["amountPaid"] == _counted(back)


def _counted(order: Body) -> Decimal:
    """The payments of an order that count, less its refunds."""
    rows = [(one, 1) for one in order["payments"]] + [(one, -1) for one in order["refunds"]]
    counted = (Decimal(str(one["amount"])) * sign for one, sign in rows
               if one["status"] == "successful")  # fmt: skip
    return sum(counted, Decimal(0))


async def test_less_is_left_for_refunds_of_ours(till: Giving) -> None:
    """Money that went back on the provider's pages can't go back again."""
    order = await till.sold()
    await tell(till, order, returned=Decimal(700))
    answer = await till.api.post(f"/v1/orders/{order['id']}/refunds", {"amount": 400})
    assert (answer.status, answer.json["error"]) == (400, "request_failed")


async def test_more_than_came_in_is_told_and_not_booked(till: Giving) -> None:
    """The difference is named by `verify`, until both agree."""
    order = await till.sold()
    await till.asked(order, amount=400)
    await till.send()
    await tell(till, order, returned=Decimal(1000))
    assert await gone(till) == 1000
    [fault] = await till.faults(till.services)
    assert fault.subject == "payin"
    assert "1000 by itself and 400" in fault.what
    await till.sql.execute(
        "UPDATE payins SET returned_told = returned_amount WHERE book_id = $1", till.book
    )


@pytest.mark.parametrize("first", ["reversal", "success"])
@pytest.mark.parametrize("way", ["whole", "sum"])
async def test_a_failed_refund_that_went_back_after_all_and_a_reversal(
    till: Giving, first: str, way: str
) -> None:
    """Whichever is heard first, of 1,000 that came in 1,000 go back; a larger sum is named."""
    order = await till.sold()
    till.bank.manners.append("failed")
    refund = await till.asked(order, amount=400)
    await till.send()
    for news in ("reversal", "success") if first == "reversal" else ("success", "reversal"):
        if news == "success":
            await succeed_late(till, refund)
        elif way == "whole":
            await till.paid(order, "reversed")
        else:
            await tell(till, order, returned=Decimal(1000))
    shown = await till.show(order)
    assert (shown["amountPaid"], shown["refundedAmount"]) == (0, 1000)
    assert (await till.refund_of(order))["status"] == "successful"
    assert await gone(till) == (1000 - 15 if way == "whole" else 1000)
    assert (await till.accounts()).get("unapplied_receipts", 0) == 0
    told = [(fault.subject, fault.what) for fault in await till.faults(till.services)]
    if way == "sum":
        # The provider says that 1,400 went back: a person has to ask it.
        [(subject, what)] = told
        assert subject == ("refund" if first == "reversal" else "payin")
        assert "400" in what
        await forget(till)
    else:
        assert told == []


async def test_one_that_went_back_after_cash_is_told(till: Giving) -> None:
    """1,000 left twice: a transaction says so, until the money comes home again."""
    order = await till.sold()
    till.bank.manners.append("failed")
    refund = await till.asked(order, amount=1000)
    await till.send()
    await till.give_back(order, amount=1000, method="cash")
    before = await _held(till)
    assert before["cash"] == -1000
    await succeed_late(till, refund)
    assert await _held(till) == {**before, "cloove_pay": before["cloove_pay"] - 1000}
    assert (await till.transactions())[-1] == ("refund", "cloove_pay", Decimal(-1000))
    till.bank.refunds[till.reference(refund)] = "failed"
    await till.hear(refund)
    await till.send()
    assert await _held(till) == before


async def _held(till: Giving) -> dict[str, Decimal]:
    """The sum of each method, by transactions and accounts alike."""
    told, held = await by_method(till.sql, till.book)
    assert told == held
    return held


async def test_a_failed_refund_that_went_back_after_all_and_failed_again(till: Giving) -> None:
    """Nothing comes home of a part that had been taken back before."""
    order = await till.sold()
    till.bank.manners.append("failed")
    refund = await till.asked(order, amount=400)
    await till.send()
    await tell(till, order, returned=Decimal(700))
    await succeed_late(till, refund)
    assert await gone(till) == 1000
    till.bank.refunds[till.reference(refund)] = "failed"
    await till.hear(refund)
    await till.send()
    assert (await till.show(order))["amountPaid"] == 300
    assert await gone(till) == 700
    await tell(till, order, returned=Decimal(1000))
    assert (await till.show(order))["amountPaid"] == 0
    assert await gone(till) == 1000


async def test_a_late_success_and_a_reversal_at_once(till: Giving) -> None:
    """In either order, the money that goes back is the money that came in."""
    for _ in range(5):
        order = await till.sold()
        till.bank.manners.append("failed")
        refund = await till.asked(order, amount=400)
        await till.send()
        before = await till.wallet()
        await till.arrive(order, "reversed")
        till.bank.refunds[till.reference(refund)] = "successful"
        await till.hear(refund)
        await till.make_due(HOUR)
        await asyncio.gather(*(till.runner().run_due(now()) for _ in range(3)), till.send())
        for after in (MINUTES_5, HOUR):
            await till.send(after)
        shown = await till.show(order)
        assert (shown["amountPaid"], shown["refundedAmount"]) == (0, 1000)
        assert before - await till.wallet() == 1000 - 15
        assert (await till.accounts()).get("unapplied_receipts", 0) == 0


async def succeed_late(till: Giving, refund: Body) -> None:
    """A refund that failed went back all the same, and the provider tells it."""
    till.bank.refunds[till.reference(refund)] = "successful"
    await till.hear(refund)
    await till.send()


async def forget(till: Giving) -> None:
    """Let the provider tell what is booked, so that the books are proven at the end."""
    for statement in (
        "UPDATE payins SET returned_told = returned_amount WHERE book_id = $1",
        "UPDATE payins SET status = 'reversed', reversed_at = now() WHERE book_id = $1 "
        "AND returned_amount > 0",
    ):
        await till.sql.execute(statement, till.book)


async def test_a_refund_and_a_reversal_at_once(till: Giving) -> None:
    """In either order, the money that goes back is the money that came in."""
    for _ in range(5):
        order = await till.sold()
        await till.arrive(order, "reversed")
        await asyncio.gather(
            till.api.post(f"/v1/orders/{order['id']}/refunds", {"amount": 400}),
            till.send(),
        )
        for after in (MINUTES_5, HOUR):
            await till.send(after)
        row = await till.sql.fetchrow(
            "SELECT given_back + returned_amount AS gone FROM payins WHERE target_id = $1",
            UUID(order["id"]),
        )
        assert row["gone"] == 1000
        assert (await till.show(order))["amountPaid"] == 0
