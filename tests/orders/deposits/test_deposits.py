"""Orders that are paid into an account of their own."""

import asyncio
from datetime import timedelta

import pytest

from tests.orders.deposits.depositing import Depositing
from tests.orders.shop import ORDERS, fee
from tillhouse.kit.clock import iso, now


async def test_an_order_gets_an_account_of_its_own(till: Depositing) -> None:
    """The answer has the number to transfer to, and so has every later reading."""
    order = await till.deposit(1000)
    deposit = order["deposit"]
    assert order["isAutomated"] is True
    assert (deposit["status"], deposit["amount"], deposit["amountReceived"]) == ("active", 1000, 0)
    assert deposit["accountNumber"]
    assert deposit["provider"] == "sandbox"
    assert await till.show(order) == order
    [listed] = (await till.api.get(f"{ORDERS}?is_automated=true")).data
    assert listed["deposit"] == deposit


async def test_a_replay_answers_with_the_account(till: Depositing) -> None:
    """The same key again: the same order, and no second account."""
    body = {"items": [fee(500)], "payment_method": "cloove_pay"}
    first, second = [
        await till.api.post(ORDERS, body, headers={"idempotency-key": "till-1"}) for _ in range(2)
    ]
    assert (first.status, second.status) == (201, 200)
    assert second.data == first.data
    assert await till.sql.fetchval(
        "SELECT count(*) FROM virtual_accounts WHERE book_id = $1", till.book
    ) == 1  # fmt: skip


async def test_nothing_is_opened_where_nothing_is_owed(till: Depositing) -> None:
    """Paid already, or recorded after the fact."""
    paid = await till.ring(100, paid=100)
    paid = await till.patch(paid, payment_method="cloove_pay")
    past = await till.deposit(100, occurred_at="2026-01-01T10:00:00Z")
    assert [order["isAutomated"] for order in (paid, past)] == [False, False]


async def test_the_payment_completes_the_order(till: Depositing) -> None:
    """Booked once: payment, event, wallet."""
    order = await till.paid(await till.deposit(1000))
    assert (order["status"], order["paymentStatus"], order["amountPaid"]) == (
        "completed", "paid", 1000,
    )  # fmt: skip
    [payment] = order["payments"]
    assert (payment["method"], payment["amount"]) == ("cloove_pay", 1000)
    assert (order["deposit"]["status"], order["deposit"]["amountReceived"]) == ("paid", 1000)
    accounts = await till.accounts()
    assert accounts["sales"] == -1000
    assert await till.wallet() == accounts["wallet_funding"]
    events = await till.sql.fetch(
        "SELECT type FROM webhook_events WHERE book_id = $1 "
        "AND type IN ('payment.received', 'wallet.deposit')",
        till.book,
    )
    assert sorted(event["type"] for event in events) == ["payment.received", "wallet.deposit"]


async def test_a_part_leaves_the_rest_to_pay(till: Depositing) -> None:
    """Half of it arrives, then the rest: two payments of one order."""
    half = await till.paid(await till.deposit(1000), "under")
    assert (half["status"], half["remainingAmount"]) == ("pending", 500)
    assert half["deposit"]["status"] == "active"
    noted = await till.api.patch(f"{ORDERS}/{half['id']}", {"channel_fulfilled": True})
    assert noted.data["deposit"] == half["deposit"]
    whole = await till.paid(half, "exact", 500)
    assert (whole["status"], len(whole["payments"])) == ("completed", 2)


@pytest.mark.parametrize("kind", ["over", "twice"])
async def test_too_much_is_kept_for_the_payer(till: Depositing, kind: str) -> None:
    """Nothing is lost, and the order is paid once."""
    order = await till.deposit(1000, customer_name="Ada Obi")
    shown = await till.paid(order, kind)  # type: ignore[arg-type]
    assert shown["status"] == "completed"
    kept = -(await till.accounts())["customer_credit"]
    assert kept == shown["amountPaid"] - 1000 > 0


async def test_late_money_of_a_cancelled_order_is_kept(till: Depositing) -> None:
    """It can't be turned away: it is the customer's credit."""
    order = await till.deposit(1000, customer_name="Ada Obi")
    cancelled = await till.api.patch(f"{ORDERS}/{order['id']}", {"status": "cancelled"})
    assert cancelled.status == 200
    shown = await till.paid(order)
    assert (shown["status"], shown["amountPaid"]) == ("cancelled", 1000)
    assert (await till.accounts())["customer_credit"] == -1000


async def test_a_reversal_refunds_the_order(till: Depositing) -> None:
    """The provider takes all of it back."""
    order = await till.paid(await till.deposit(1000))
    back = await till.paid(order, "reversed")
    assert (back["status"], back["amountPaid"], back["refundedAmount"]) == ("refunded", 0, 1000)
    assert back["deposit"]["status"] == "reversed"
    [refund] = back["refunds"]
    assert (refund["method"], refund["amount"]) == ("cloove_pay", 1000)
    assert await till.wallet() == 0


async def test_asking_again_finds_what_no_hook_told(till: Depositing) -> None:
    """The answer has the payment already, and the event that comes late changes nothing."""
    order = await till.deposit(1000)
    await till.arrive(order)
    answer = await till.requery(order)
    assert (answer.status, answer.data["status"]) == (200, "completed")
    await till.work()
    assert (await till.show(order))["payments"] == answer.data["payments"]


async def test_fifty_ask_while_the_event_comes(till: Depositing) -> None:
    """One payment, whoever is first."""
    order = await till.deposit(1000)
    await till.arrive(order)
    answers = await asyncio.gather(*(till.requery(order) for _ in range(50)), till.work())
    assert {answer.status for answer in answers if answer is not None} <= {200, 429, 503}
    await till.work()
    shown = await till.show(order)
    assert (len(shown["payments"]), shown["amountPaid"]) == (1, 1000)


async def test_an_order_with_a_deposit_stays(till: Depositing) -> None:
    """It isn't deleted, and a paid one isn't cancelled."""
    order = await till.deposit(1000)
    gone = await till.api.delete(f"{ORDERS}/{order['id']}")
    assert (gone.status, gone.error) == (409, "order_not_deletable")
    paid = await till.paid(order)
    refused = await till.api.patch(f"{ORDERS}/{paid['id']}", {"status": "cancelled"})
    assert (refused.status, refused.error) == (400, "request_failed")


async def test_no_detour_cancels_a_paid_one(till: Depositing) -> None:
    """Pending by name and dearer, later: it was completed, and its payment stays."""
    order = await till.paid(await till.deposit(1000))
    await till.patch_all(order, {"status": "pending", "total_amount": 1500})
    path = f"{ORDERS}/{order['id']}"
    refused = await till.api.patch(path, {"status": "cancelled"}, status=400)
    assert "automated deposit" in refused.json["message"]
    await till.to(order, "scheduled", scheduled_for=iso(now() + timedelta(days=1)))
    await till.api.patch(path, {"status": "cancelled"}, status=400)


async def test_one_whose_payment_was_given_back_is_cancelled(till: Depositing) -> None:
    """Nothing of it is left to be reversed."""
    order = await till.paid(await till.deposit(1000))
    await till.patch_all(order, {"status": "pending", "total_amount": 1500})
    path = f"{ORDERS}/{order['id']}"
    for amount, status in ((400, 400), (600, 200)):
        refund = {"amount": amount, "method": "cash"}
        await till.api.post(path + "/refunds", refund, status=201)
        await till.api.patch(path, {"status": "cancelled"}, status=status)


async def test_a_method_that_changes_opens_an_account(till: Depositing) -> None:
    """By PATCH, and as a scheduled order is confirmed."""
    order = await till.ring(800)
    changed = await till.patch(order, payment_method="cloove_pay")
    assert changed["isAutomated"] is True
    assert changed["deposit"]["amount"] == 800


async def test_another_total_opens_another_account(till: Depositing) -> None:
    """The account asks for what is owed now; money for the old one still counts."""
    order = await till.deposit(1000)
    await till.arrive(order, "exact", 300)
    dearer = (await till.api.patch(f"{ORDERS}/{order['id']}", {"total_amount": 1500})).data
    assert dearer["deposit"]["amount"] == 1500
    assert dearer["deposit"]["id"] != order["deposit"]["id"]
    await till.work()
    assert (await till.show(order))["remainingAmount"] == 1200


async def test_one_without_a_deposit_has_nothing_to_ask_about(till: Depositing) -> None:
    """400, with a sentence that says so."""
    answer = await till.requery(await till.ring(100))
    assert (answer.status, answer.error) == (400, "request_failed")


async def test_money_that_goes_back_twice_is_a_claim(till: Depositing) -> None:
    """Handed back over the counter, then taken back by the provider: said, and never lost."""
    order = await till.paid(await till.deposit(1000))
    path = f"{ORDERS}/{order['id']}/refunds"
    refunded = await till.api.post(path, {"amount": 400, "method": "cash"})
    assert refunded.status == 201
    back = await till.paid(order, "reversed")
    assert (back["status"], back["amountPaid"]) == ("refunded", 0)
    assert (await till.accounts())["unapplied_receipts"] == 400
    assert (await till.accounts()).get("provider_clearing", 0) == 0
    told = (await till.api.get("/v1/finance/transactions?method=cloove_pay", status=200)).data
    moved = [(one["type"], one["direction"], one["amount"]) for one in reversed(told)]
    fees = [one for one in moved if one[0] == "fee"]
    assert [one for one in moved if one not in fees] == [
        ("sale", "in", 1000), ("refund", "out", 600), ("reversal", "out", 400),
    ]  # fmt: skip
    assert [one["orderId"] for one in told if one["type"] == "reversal"] == [order["id"]]


async def test_a_new_account_asks_for_what_is_owed(till: Depositing) -> None:
    """A part has arrived, then the total rises: the next account asks for the rest alone."""
    half = await till.paid(await till.deposit(1000), "exact", 400)
    patched = await till.api.patch(f"{ORDERS}/{half['id']}", {"total_amount": 1500})
    assert (patched.data["remainingAmount"], patched.data["deposit"]["amount"]) == (1100, 1100)
    again = (await till.requery(half)).data
    assert again["deposit"] == patched.data["deposit"]


@pytest.mark.parametrize(("arrived", "status"), [(400, "active"), (1000, "paid")])
async def test_asking_between_recorded_and_applied(
    till: Depositing, arrived: int, status: str
) -> None:
    """The money that is recorded is applied first, so that no second account asks for it."""
    order = await till.deposit(1000)
    await till.arrive(order, "exact", arrived)
    await till.record()
    again = (await till.requery(order)).data
    assert (again["amountPaid"], again["deposit"]["id"]) == (arrived, order["deposit"]["id"])
    assert (again["deposit"]["status"], again["deposit"]["amount"]) == (status, 1000)


async def test_a_reversal_of_credit_that_was_spent(till: Depositing) -> None:
    """The order gives back what it holds, the rest is a claim, and later money still counts."""
    order = await till.paid(await till.deposit(1000, customer_name="Ada Obi"), "over")
    spent = {
        "items": [fee(500)],
        "payment_method": "credit",
        "amount_paid": 500,
        "customer_id": order["customer"]["id"],
    }
    assert (await till.api.post(ORDERS, spent)).status == 201
    back = await till.paid(order, "reversed")
    assert (back["status"], back["amountPaid"], back["refundedAmount"]) == ("refunded", 500, 1000)
    accounts = await till.accounts()
    assert accounts["unapplied_receipts"] == 500
    assert "customer_credit" not in accounts
    assert accounts.get("provider_clearing", 0) == 0
    late = await till.paid(order, "exact", 200)
    assert late["amountPaid"] == 700
