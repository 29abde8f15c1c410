"""A payment that its provider doesn't give back is paid out once, and both have one outcome."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from decimal import Decimal
from uuid import uuid4

import asyncpg
import pytest

from tests.make import Make
from tests.orders.returning.giving import DAY, HOUR, MINUTES_5
from tests.payouts.bank import Manner
from tests.payouts.paying_out import PayingOut
from tests.payouts.treasury import WITHDRAWALS
from tillhouse.access.process import Services
from tillhouse.kit.ids import new_id

_FILLED = Decimal("9850.00") + 985


@pytest.fixture
async def till(services: Services, make: Make, sql: asyncpg.Connection) -> AsyncIterator[PayingOut]:
    """A till of this test's own business, whose books are proven at the end."""
    opened = await PayingOut.prepared(make, sql, services)
    yield opened
    assert await opened.faults(services) == []


async def test_it_is_held_then_sent_then_booked_as_one(till: PayingOut) -> None:
    """Until it is paid the order is; then both have the same transaction, and there is no other."""
    order = await till.refused(1000)
    till.bank.fee = Decimal(10)
    asked = await till.paid_out(order, 400, refund={"reason": "Cold"}, narration="Order 7")
    assert (asked["status"], asked["orderId"], asked["transactionId"]) == (
        "requested", order["id"], None,
    )  # fmt: skip
    assert await till.stands(order, asked) == ("requested", "pending", 1000, 0)
    assert (await till.wallet(), await till.available()) == (_FILLED, _FILLED - 400)
    before = await till.transactions()
    await till.send()
    assert await till.stands(order, asked) == ("completed", "successful", 600, 400)
    done, refund = await till.look(asked), await till.refund_of(order)
    assert (refund["transactionId"], refund["reason"]) == (done["transactionId"], "Cold")
    assert (refund["provider"], refund["method"], done["fee"]) == (None, "cloove_pay", 10)
    assert (await till.transactions())[len(before) :] == [
        ("refund", "cloove_pay", Decimal(-400)),
        ("fee", "wallet", Decimal(10)),
    ]
    assert await till.wallet() == _FILLED - 410
    fee, entry = (await till.payouts.get("/v1/wallet/statement?limit=2", status=200)).data
    assert (entry["amount"], entry["transactionId"]) == (-400, refund["transactionId"])
    assert (fee["amount"], fee["type"]) == (-10, "fee")
    assert fee["transactionId"] != refund["transactionId"]
    assert [status for _, status in await till.told()] == ["failed", "successful"]
    await till.api.post(f"/v1/orders/{order['id']}/receipt", status=200)
    assert [one["amount"] for one in await till.printed(order)] == [400]


async def test_fifty_at_once_are_one(till: PayingOut) -> None:
    """One payment is paid out once, by whichever request comes first, and goes no other way."""
    order = await till.refused(1000)
    outs = [till.ask_out(order, 1000, status=None) for _ in range(25)]
    body = {"amount": 1000, "method": "cloove_pay"}
    backs = [till.api.post(f"/v1/orders/{order['id']}/refunds", body) for _ in range(25)]
    answers = await asyncio.gather(*outs, *backs)
    assert Counter(answer.status for answer in answers) == {201: 1, 400: 49}
    await till.send()
    shown = await till.show(order)
    assert (shown["amountPaid"], shown["status"]) == (0, "refunded")
    moved = till.bank.paid.total() + till.bank.returned.total()
    assert (moved, await till.wallet()) == (1, _FILLED - 1000)


async def test_one_key_is_one_refund_for_ever(till: PayingOut) -> None:
    """The same key answers the same withdrawal, also once its order is refunded."""
    order = await till.refused(1000)
    body = {
        "amount": 1000,
        "payout_account_id": till.account_id,
        "refund": {"order_id": order["id"]},
    }
    key = {"idempotency-key": str(uuid4())}
    first = (await till.payouts.post(WITHDRAWALS, body, headers=key, status=201)).data
    await till.send()
    await till.sql.execute("DELETE FROM idempotency_keys WHERE book_id = $1", till.book)
    again = await till.payouts.post(WITHDRAWALS, body, headers=key, status=201)
    assert (again.data["id"], again.data["status"]) == (first["id"], "completed")
    assert len((await till.show(order))["refunds"]) == 2


@pytest.mark.parametrize("manner", ["refused", "failed"])
async def test_a_failure_ends_both(till: PayingOut, manner: Manner) -> None:
    """The wallet and the order have their money again, and it can be paid out anew."""
    order = await till.refused(1000)
    till.bank.manners.append(manner)
    asked = await till.paid_out(order, 1000)
    await till.send()
    assert await till.stands(order, asked) == ("failed", "failed", 1000, 0)
    assert (await till.refund_of(order))["failureReason"] == "the account is closed"
    assert (await till.wallet(), await till.held()) == (_FILLED, 0)
    again = await till.paid_out(order, 1000)
    await till.send()
    assert await till.stands(order, again) == ("completed", "successful", 0, 1000)


async def test_cancelling_ends_both(till: PayingOut) -> None:
    """The order has again what was not sent yet."""
    order = await till.refused(1000)
    asked = await till.paid_out(order, 1000)
    for _ in range(2):
        await till.payouts.post(f"{WITHDRAWALS}/{asked['id']}/cancel", {}, status=200)
    assert await till.stands(order, asked) == ("cancelled", "failed", 1000, 0)
    await till.send()
    assert (till.bank.paid, await till.available()) == (Counter(), _FILLED)


@pytest.mark.parametrize("manner", ["broken", "bug", "late"])
async def test_an_unclear_call_is_looked_up_and_never_repeated(
    till: PayingOut, manner: Manner
) -> None:
    """It was executed, though no answer said so: the refund waits for the first look."""
    order = await till.refused(1000)
    till.bank.manners.append(manner)
    asked = await till.paid_out(order, 1000)
    await till.send()
    assert await till.stands(order, asked) == ("processing", "pending", 1000, 0)
    till.bank.catch_up()
    await till.send(MINUTES_5)
    assert await till.stands(order, asked) == ("completed", "successful", 0, 1000)
    assert till.bank.paid == {till.paid_by(asked): 1}


async def test_a_lost_call_is_sent_again_after_an_hour(till: PayingOut) -> None:
    """By the same reference, while the refund is on its way."""
    order = await till.refused(1000)
    till.bank.manners.append("lost")
    asked = await till.paid_out(order, 1000)
    for after in (MINUTES_5, HOUR):
        await till.send()
        await till.send(after)
        assert await till.stands(order, asked) == ("processing", "pending", 1000, 0)
    await till.make_old(asked, HOUR)
    await till.send(DAY)
    assert await till.stands(order, asked) == ("completed", "successful", 0, 1000)
    assert till.bank.paid == {till.paid_by(asked): 1}


async def test_money_that_comes_back_is_the_orders_again(till: PayingOut) -> None:
    """The bank says that it was paid, and later that it came back: both are reversed."""
    order = await till.refused(1000)
    asked = await till.paid_out(order, 1000)
    await till.send()
    till.bank.states[till.paid_by(asked)] = "reversed"
    for _ in range(2):
        await till.tell_of(asked)
        await till.send()
    assert await till.stands(order, asked) == ("reversed", "reversed", 1000, 0)
    assert (await till.show(order))["status"] == "completed"
    assert await till.wallet() == _FILLED
    again = await till.paid_out(order, 1000)
    await till.send()
    assert await till.stands(order, again) == ("completed", "successful", 0, 1000)


async def test_one_that_comes_back_on_its_way_was_never_booked(till: PayingOut) -> None:
    """The refund failed, and the withdrawal is reversed."""
    order = await till.refused(1000)
    till.bank.manners.append("slow")
    asked = await till.paid_out(order, 1000)
    await till.send()
    till.bank.states[till.paid_by(asked)] = "reversed"
    await till.tell_of(asked)
    await till.send()
    assert await till.stands(order, asked) == ("reversed", "failed", 1000, 0)


async def test_only_what_has_no_way_back_is_paid_out(till: PayingOut) -> None:
    """Where the provider gives payments back, it is asked first; cash never came by one."""
    order = await till.sold(1000)
    answer = await till.ask_out(order, 1000, status=400)
    assert "ask for that first, by POST /v1/orders/{order_id}/refunds" in answer.json["message"]
    cash = await till.ring(1000, 1000, payment_method="cash")
    answer = await till.ask_out(cash, 1000, status=400)
    assert "No payment of this order came by a provider" in answer.json["message"]
    assert await till.held() == 0


async def test_a_provider_that_is_gone_is_no_way_back(till: PayingOut) -> None:
    """The payment came by one that isn't connected: it is paid out at once."""
    order = await till.sold(1000)
    await till.sql.execute("UPDATE payins SET provider = 'paystack' WHERE book_id = $1", till.book)
    asked = await till.paid_out(order, 1000)
    await till.send()
    assert await till.stands(order, asked) == ("completed", "successful", 0, 1000)


async def test_more_than_was_paid_is_refused(till: PayingOut) -> None:
    """Of the order, of the payment, and of the wallet; nothing is left behind."""
    order = await till.refused(1000)
    assert (
        "1000.01 can't be given back"
        in ((await till.ask_out(order, "1000.01", status=400)).json["message"])
    )
    await till.paid_out(order, 600)
    assert "500 can't be given back" in (await till.ask_out(order, 500, status=400)).json["message"]
    other = await till.refused(2000)
    await till.sql.execute(
        "UPDATE api_keys SET withdrawal_policy = jsonb_set(withdrawal_policy, "
        "'{max_per_transaction}', '\"1000000\"') WHERE book_id = $1 "
        "AND withdrawal_policy IS NOT NULL",
        till.book,
    )
    drained = {"amount": str(await till.available()), "payout_account_id": till.account_id}
    key = {"idempotency-key": str(new_id())}
    await till.payouts.post(WITHDRAWALS, drained, headers=key, status=201)
    answer = await till.ask_out(other, 2000, status=400)
    assert answer.json["message"].startswith("The wallet has 0")


async def test_the_policy_of_the_key_holds(till: PayingOut) -> None:
    """Its limits and its accounts, as for any withdrawal."""
    order = await till.refused(1000)
    small = await till.client("orders:write", max_per_transaction=500)
    answer = await till.ask_out(order, 600, api=small, status=400)
    assert "max_per_transaction" in answer.json["message"]
    none = await till.client("orders:write", allowed_payout_account_ids=[])
    answer = await till.ask_out(order, 100, api=none, status=400)
    assert "doesn't allow this payout account" in answer.json["message"]
    freezing = {"frozen": True, "reason": "Leak"}
    await till.payouts.put("/v1/wallet/payouts", freezing, status=200)
    assert "frozen" in (await till.ask_out(order, 100, status=400)).json["message"]


async def test_it_takes_both_scopes(till: PayingOut) -> None:
    """A key that may withdraw may not change orders by that, nor learn whether one is there."""
    order = await till.refused(1000)
    poor = await till.client("orders:read")
    for one in (order, {"id": str(new_id())}):
        answer = await till.ask_out(one, 100, api=poor, status=403)
        assert "orders:write" in answer.json["message"]
        body = {"amount": -1, "refund": {"order_id": one["id"]}}
        key = {"idempotency-key": str(new_id())}
        answer = await poor.post(WITHDRAWALS, body, headers=key, status=422)
        named = [fault["field"] for fault in answer.json["details"]]
        assert named == ["amount", "payout_account_id"]


async def test_fields_that_are_wrong_are_all_named(till: PayingOut) -> None:
    """An order of nobody, a payment of another order, a wrong account: each by its name."""
    order = await till.refused(1000)
    answer = await till.ask_out({"id": str(new_id())}, "0.001", status=422)
    assert {one["field"] for one in answer.json["details"]} == {"amount", "refund.order_id"}
    answer = await till.ask_out(order, 100, refund={"payment_id": str(new_id())}, status=422)
    assert [one["field"] for one in answer.json["details"]] == ["refund.payment_id"]
    answer = await till.ask_out(order, 100, refund={"reason": 5, "lines": []}, status=422)
    assert {one["field"] for one in answer.json["details"]} == {"refund.reason", "refund.lines"}


async def test_a_hint_of_the_provider_of_the_payment_asks_nothing(till: PayingOut) -> None:
    """A refund that is paid out is none of the provider's by which the payment came."""
    order = await till.refused(1000)
    asked = await till.paid_out(order, 1000)
    before = till.bank.wanted.total()
    await till.hear(await till.refund_of(order))
    await till.send()
    assert till.bank.wanted.total() == before
    assert await till.stands(order, asked) == ("completed", "successful", 0, 1000)


async def test_a_refund_that_went_back_after_all_is_named(
    services: Services, make: Make, sql: asyncpg.Connection
) -> None:
    """The provider refused, we paid out, and it gave back all the same: a claim, and a fault."""
    till = await PayingOut.prepared(make, sql, services)
    order = await till.sold(1000)
    till.bank.manners.append("failed")
    first = await till.asked(order, amount=1000)
    await till.send()
    await till.paid_out(order, 1000)
    await till.send()
    till.bank.refunds[till.reference(first)] = "successful"
    await till.hear(first)
    await till.send()
    assert (await till.accounts())["unapplied_receipts"] == 1000
    faults = await till.faults(till.services)
    assert {one.subject for one in faults} == {"refund"}
    assert all("of which 2000" in one.what for one in faults)


async def test_what_the_customer_keeps_as_credit_is_held(till: PayingOut) -> None:
    """An overpayment is the customer's credit: on its way out it can't be spent."""
    order = await till.deposit(1000, customer_name="Ada Obi")
    order = await till.paid(order, "over")
    till.bank.manners.append("refused")
    await till.asked(order, amount=100)
    await till.send()
    kept = order["amountPaid"] - 1000
    asked = await till.paid_out(order, kept)
    held = "SELECT held FROM ledger_balances WHERE book_id = $1 AND kind = 'customer_credit'"
    assert await till.sql.fetchval(held, till.book) == kept
    await till.send()
    assert await till.stands(order, asked) == ("completed", "successful", 1000, 0)
    assert await till.sql.fetchval(held, till.book) == 0


@pytest.mark.parametrize("comes_back", [False, True])
async def test_a_payment_that_its_provider_takes_back_meanwhile(
    till: PayingOut, *, comes_back: bool
) -> None:
    """Both have left: what the order no longer has is a claim, until the payout comes back."""
    order = await till.refused(1000)
    asked = await till.paid_out(order, 400)
    await till.paid(order, "reversed")
    await till.send()
    assert await till.stands(order, asked) == ("completed", "successful", 0, 1000)
    assert (await till.look(asked))["transactionId"] is None
    assert (await till.accounts())["unapplied_receipts"] == 400
    if comes_back:
        till.bank.states[till.paid_by(asked)] = "reversed"
        await till.tell_of(asked)
        await till.send()
        assert await till.stands(order, asked) == ("reversed", "reversed", 0, 1000)
        assert "unapplied_receipts" not in await till.accounts()
