"""Payments that can go back through a provider, and the order that waits for it."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from tests.make import Make
from tests.orders.returning.bank import ReturningProvider
from tests.orders.returning.giving import Giving
from tests.orders.shop import ORDERS, fee, line, variant_of


async def test_fifty_at_once_give_one_payment_back_once(till: Giving) -> None:
    """One is on its way, and the others are told what is left: nothing."""
    order = await till.sold()
    answers = await asyncio.gather(*(till.post_refund(order, {"amount": 1000}) for _ in range(50)))
    codes = sorted(answer.status for answer in answers)
    assert codes == [201] + [400] * 49
    assert await till.held() == 1000
    soon = till.later(timedelta(seconds=2))
    await asyncio.gather(*(till.runner().run_due(soon) for _ in range(5)))
    [refund] = (await till.show(order))["refunds"]
    assert refund["status"] == "successful"
    assert till.bank.returned[till.reference(refund)] == 1


async def test_parts_at_once_never_exceed_what_was_paid(till: Giving) -> None:
    """Three of 400 don't fit into 1,000."""
    order = await till.sold()
    answers = await asyncio.gather(*(till.post_refund(order, {"amount": 400}) for _ in range(20)))
    assert sum(answer.status == 201 for answer in answers) == 2
    await till.send()
    assert (await till.show(order))["amountPaid"] == 200


async def test_a_wallet_that_holds_less_refuses(till: Giving) -> None:
    """The fee stays with the provider, so the wallet may not cover all that came in."""
    last = await till.sold(1_000_000)
    refused = await till.give_back(last, amount=1_000_000, status=400)
    assert refused.error == "request_failed"
    message = refused.json["message"]
    assert "The wallet holds less than this refund takes: 994850" in message
    assert " of 1000000" in message
    assert (await till.show(last))["refunds"] == []


async def test_a_refund_by_another_method_is_booked_at_once(till: Giving) -> None:
    """The business hands the money back itself."""
    order = await till.sold()
    shown = await till.give_back(order, amount=400, method="transfer")
    assert (shown["amountPaid"], shown["refunds"][0]["status"]) == (600, "successful")
    assert shown["refunds"][0]["provider"] is None
    await till.send()
    assert till.bank.wanted[till.reference(shown["refunds"][0])] == 0


async def test_what_is_on_its_way_counts_against_the_rest(till: Giving) -> None:
    """No more than the rest goes back, by any method."""
    order = await till.sold()
    await till.asked(order, amount=700)
    for method in ("cloove_pay", "cash"):
        refused = await till.give_back(order, amount=301, method=method, status=400)
        assert "300.00 are left" in refused.json["message"]
    await till.give_back(order, amount=300, method="cash")


@pytest.mark.parametrize(
    ("change", "later"),
    [
        # A provider's money, which is never corrected.
        ({"amount_paid": 200}, 400),
        ({"total_amount": 900}, 200),
        ({"customer_name": "Ada Obi"}, 200),
    ],
    ids=str,
)
async def test_what_a_refund_rests_on_stays(
    till: Giving, change: dict[str, object], later: int
) -> None:
    """Until it has ended; then it can be changed again."""
    order = await till.sold()
    await till.asked(order, amount=700)
    path = f"{ORDERS}/{order['id']}"
    refused = await till.api.patch(path, change)
    assert (refused.status, refused.error) == (400, "request_failed")
    assert "A refund of 700 is on its way" in refused.json["message"]
    assert (await till.api.patch(path, {"channel_fulfilled": True})).status == 200
    till.bank.manners.append("failed")
    await till.send()
    again = await till.api.patch(path, change)
    assert again.status == later, again


async def test_a_bank_is_asked_for_its_own_book_alone(
    till: Giving, make: Make, sql: asyncpg.Connection
) -> None:
    """Though a worker does the jobs of all: what a test sets of its bank meets no other one."""
    other = await Giving.open(make, sql)
    other.services, other.bank = till.services, ReturningProvider(other.book)
    await other.fill()
    for one in (till, other):
        await one.asked(await one.sold(), amount=700)
        # As old jobs of both books, whichever is done first.
        await one.make_due(timedelta())
    till.bank.manners.append("slow")
    await till.send()
    assert (till.bank.wanted.total(), len(till.bank.manners)) == (1, 0)
    assert till.bank.refunds.keys() == till.bank.wanted.keys()
    assert list(till.bank.refunds.values()) == ["pending"]


async def test_each_payment_goes_back_by_itself(till: Giving) -> None:
    """An order that was paid twice: each refund is of one payment, and names it."""
    order = await till.paid(await till.deposit(1000), "under")
    whole = await till.paid(order, "exact", 500)
    first, second = (one["id"] for one in whole["payments"])
    refused = await till.give_back(order, amount=600, status=400)
    assert "at most 500.00 of one are left" in refused.json["message"]
    wrong = await till.give_back(order, amount=1, payment_id=order["id"], status=422)
    assert wrong.json["details"][0]["field"] == "payment_id"
    assert (await till.asked(order, amount=100, payment_id=second))["paymentId"] == second
    assert (await till.asked(order, amount=500))["paymentId"] == first
    assert (await till.asked(order, amount=400))["paymentId"] == second
    await till.send()
    assert (await till.show(order))["status"] == "refunded"


async def test_a_payment_is_named_with_its_method_alone(till: Giving) -> None:
    """A refund in cash gives back no payment of the provider's."""
    order = await till.sold()
    named = {"amount": 10, "method": "cash", "payment_id": order["payments"][0]["id"]}
    wrong = await till.give_back(order, status=422, **named)
    assert wrong.json["details"] == [
        {"field": "payment_id", "message": "goes with the method cloove_pay only"}
    ]


async def test_no_payment_of_a_provider_is_named_for_what_was_paid_in_cash(till: Giving) -> None:
    """It would be booked as cash handed back, and the caller would wait for a provider."""
    body = {"items": [fee(1000)], "payment_method": "cash", "amount_paid": 1000}
    order = (await till.api.post(ORDERS, body, status=201)).data
    for payment_id in (order["payments"][0]["id"], order["id"]):
        wrong = await till.give_back(order, amount=10, payment_id=payment_id, status=422)
        assert wrong.json["details"] == [
            {
                "field": "payment_id",
                "message": "is no payment of this order that came by a provider",
            }
        ]
    assert (await till.show(order))["refunds"] == []


@pytest.mark.parametrize("method", ["cash", "card"])
async def test_what_no_provider_ever_had_is_not_given_back_by_one(
    till: Giving, method: str
) -> None:
    """It would be booked at once as money that left the provider."""
    body = {"items": [fee(1000)], "payment_method": method, "amount_paid": 1000}
    order = (await till.api.post(ORDERS, body, status=201)).data
    before = await till.accounts()
    wrong = await till.give_back(order, amount=700, method="cloove_pay", status=422)
    assert wrong.json["details"] == [
        {
            "field": "method",
            "message": "must be another: no payment of this order came by a provider",
        }
    ]
    assert (await till.show(order))["refunds"] == []
    assert await till.accounts() == before
    await till.give_back(order, amount=700, method=method)


async def test_lines_come_back_with_their_stock_when_the_money_is_back(till: Giving) -> None:
    """Not before: a refund that fails leaves the stock where it was."""
    product = await till.product(500, stock=10)
    body = {"items": [line(product, 2)], "payment_method": "cloove_pay"}
    order = await till.paid((await till.api.post(ORDERS, body, status=201)).data)
    [item] = order["items"]
    lines = [{"item_id": item["id"], "quantity": 1}]
    till.bank.manners.append("failed")
    for wanted in (8, 9):
        await till.asked(order, lines=lines, restock=True)
        await till.send()
        assert (await till.stock(variant_of(product)))[0] == wanted
    assert (await till.refund_of(order))["restocked"] is True
    two = [{"item_id": item["id"], "quantity": 2}]
    await till.give_back(order, lines=two, restock=True, status=422)


async def test_lines_of_a_partly_paid_order_come_back_and_home(till: Giving) -> None:
    """One of two for 500, of which 500 are paid: 500 remain, before, after, and home again."""
    product = await till.product(500)
    body = {"items": [line(product, 2)], "payment_method": "cloove_pay"}
    order = await till.paid((await till.api.post(ORDERS, body, status=201)).data, "under")
    lines = [{"item_id": order["items"][0]["id"], "quantity": 1}]
    refund = await till.asked(order, lines=lines)
    for state, figures in (("successful", (0, 500, 500)), ("failed", (500, 0, 500))):
        till.bank.refunds[till.reference(refund)] = state
        await till.hear(refund)
        await till.send()
        shown = await till.show(order)
        names = ("amountPaid", "refundedAmount", "remainingAmount")
        assert tuple(shown[name] for name in names) == figures


async def test_goods_come_back_once_though_their_money_came_home_again(till: Giving) -> None:
    """The provider undid its refund: the line that is on the shelf again can't be returned."""
    product = await till.product(500, stock=10)
    body = {"items": [line(product, 2)], "payment_method": "cloove_pay"}
    order = await till.paid((await till.api.post(ORDERS, body, status=201)).data)
    one, two = [[{"item_id": order["items"][0]["id"], "quantity": quantity}] for quantity in (1, 2)]
    asked = await till.asked(order, lines=one, restock=True)
    await till.send()
    till.bank.refunds[till.reference(asked)] = "failed"
    await till.hear(asked)
    await till.send()
    assert (await till.refund_of(order))["status"] == "reversed"
    assert (await till.stock(variant_of(product)))[0] == 9
    refused = await till.give_back(order, lines=two, restock=True, status=422)
    assert refused.wrong_fields == {"lines[0].quantity"}
    await till.asked(order, lines=one, restock=True)
    await till.send()
    assert (await till.stock(variant_of(product)))[0] == 10


async def test_credit_that_goes_back_can_not_be_spent_meanwhile(till: Giving) -> None:
    """An overpayment is the customer's credit, until the provider gives it back."""
    order = await till.paid(await till.deposit(1000, customer_name="Ada Obi"), "over")
    assert order["amountPaid"] == 1500
    await till.asked(order, amount=400)
    spent = {
        "items": [fee(300)],
        "payment_method": "credit",
        "amount_paid": 300,
        "customer_id": order["customer"]["id"],
    }
    assert (await till.api.post(ORDERS, spent)).status == 400
    till.bank.manners.append("failed")
    await till.send()
    assert (await till.api.post(ORDERS, spent)).status == 201
    await till.asked(order, amount=200)
    await till.send()
    shown = await till.show(order)
    assert (shown["amountPaid"], shown["refundedAmount"]) == (1300, 0)
    assert "customer_credit" not in await till.accounts()


async def test_lines_that_go_back_leave_the_credit(till: Giving) -> None:
    """Of 1,500 paid for 1,000: the goods go back for 1,000, and 500 are the customer's to spend."""
    order = await till.paid(await till.deposit(1000, customer_name="Ada Obi"), "over")
    assert order["amountPaid"] == 1500
    line = {"item_id": order["items"][0]["id"], "quantity": 1}
    await till.asked(order, lines=[line])
    customer = f"/v1/customers/{order['customer']['id']}/credit"
    assert (await till.api.get(customer, status=200)).data["available"] == 500
    await till.send()
    shown = await till.show(order)
    assert (shown["status"], shown["amountPaid"]) == ("refunded", 500)
    assert shown["refundedAmount"] == 1000
    assert (await till.api.get(customer, status=200)).data["available"] == 500


async def test_a_payment_that_its_provider_takes_back_meanwhile(till: Giving) -> None:
    """The rest of the payment went back, and the refund: together what came in."""
    order = await till.sold()
    await till.asked(order, amount=400)
    back = await till.paid(order, "reversed")
    assert (back["status"], back["amountPaid"]) == ("completed", 400)
    await till.send()
    shown = await till.show(order)
    assert [one["status"] for one in shown["refunds"]] == ["successful", "successful"]
    assert (shown["status"], shown["amountPaid"]) == ("refunded", 0)
    assert "unapplied_receipts" not in await till.accounts()


async def test_a_repeated_request_is_one_refund(till: Giving) -> None:
    """The same key answers as the first time."""
    order = await till.sold()
    answers = [await till.post_refund(order, {"amount": 400}, key="back-1") for _ in range(2)]
    assert [answer.status for answer in answers] == [201, 201]
    assert len((await till.show(order))["refunds"]) == 1


async def test_receipts_and_figures_tell_of_completed_ones_alone(till: Giving) -> None:
    """A refund on its way is no refund yet."""
    order = await till.sold()
    await till.asked(order, amount=400)
    for refunds in ([], [{"method": "cloove_pay", "amount": 400}]):
        await till.api.post(f"{ORDERS}/{order['id']}/receipt", status=200)
        assert await till.printed(order) == refunds
        seen = (await till.api.get("/v1/finance/transactions?type=refund", status=200)).data
        assert [(one["direction"], one["amount"]) for one in seen] == [
            ("out", one["amount"]) for one in refunds
        ]
        await till.send()


async def test_an_order_says_truly_what_is_on_its_way(till: Giving) -> None:
    """Two refunds of one order, by different methods, at the same moment: never too much."""
    order = await till.sold()
    bodies = [{"amount": 600, "method": method} for method in ("cloove_pay", "cash")] * 10
    answers = await asyncio.gather(*(till.post_refund(order, body) for body in bodies))
    assert sum(answer.status == 201 for answer in answers) == 1
    await till.send()
    assert (await till.show(order))["amountPaid"] == 400
