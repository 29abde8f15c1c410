"""The folio of a stay: nights, orders, payments, and what is unspent of them."""

from collections import Counter
from decimal import Decimal

from tests.folios.lodge import STAYS, Body, Lodge
from tests.orders.shop import ORDERS


async def test_a_deposit_is_kept_until_something_is_owed(lodge: Lodge) -> None:
    """It is the guest's credit, then it pays the first order, as far as it reaches."""
    stay = await lodge.book(deposit_amount=50)
    folio = await lodge.pay(stay, 80, "transfer", reference="TRF-1")
    assert (folio["unspentAmount"], folio["amountOwed"]) == (80, 0)
    assert folio["depositAmount"] == 50
    assert (folio["nightsToCome"], folio["nightsToComeTotal"]) == (2, 200)
    assert await lodge.accounts() == {"bank": 80, "customer_credit": -80}
    await lodge.act(stay, "check-in")
    order = await lodge.charge(stay, 30)
    await lodge.charge(stay, 70)
    folio = await lodge.pay(stay, 10)
    assert [one["remainingAmount"] for one in folio["charges"]] == [0, 10]
    assert (folio["chargesTotal"], folio["paymentsTotal"]) == (100, 90)
    assert (folio["amountOwed"], folio["unspentAmount"]) == (10, 0)
    first = (await lodge.api.get(f"{ORDERS}/{order['id']}", status=200)).data
    assert (first["status"], first["payments"][0]["method"]) == ("completed", "credit")
    assert await lodge.accounts() == {
        "bank": 80, "cash": 10, "receivable": 10, "sales": -100,
    }  # fmt: skip


async def test_a_cancelled_order_gives_its_part_back_to_the_folio(lodge: Lodge) -> None:
    """The money is unspent again, and pays what comes next."""
    stay = await lodge.arrive()
    await lodge.pay(stay, 50)
    order = await lodge.charge(stay, 40)
    assert (await lodge.pay(stay, 1))["unspentAmount"] == 11
    await lodge.api.patch(f"{ORDERS}/{order['id']}", {"status": "cancelled"}, status=200)
    assert (await lodge.folio(stay))["unspentAmount"] == 51
    await lodge.charge(stay, 60)
    folio = await lodge.pay(stay, 5)
    assert (folio["amountOwed"], folio["unspentAmount"]) == (4, 0)


async def test_a_refund_of_an_order_as_credit_is_unspent_again(lodge: Lodge) -> None:
    """Handed back in cash it is gone; as credit it is the folio's."""
    stay = await lodge.arrive()
    one, other = await lodge.charge(stay, 40), await lodge.charge(stay, 40)
    await lodge.pay(stay, 80)
    for order, method in ((one, "cash"), (other, "credit")):
        body = {"amount": 10, "method": method}
        await lodge.api.post(f"{ORDERS}/{order['id']}/refunds", body, status=201)
    folio = await lodge.folio(stay)
    assert (folio["unspentAmount"], folio["chargesTotal"]) == (10, 60)
    assert await lodge.accounts() == {
        "cash": 70, "customer_credit": -10, "sales": -80, "refunds": 20,
    }  # fmt: skip


async def test_unspent_money_is_handed_back(lodge: Lodge) -> None:
    """Never more than there is, and not what an order took."""
    stay = await lodge.arrive()
    await lodge.charge(stay, 30)
    await lodge.pay(stay, 100)
    refused = await lodge.give_back(stay, 70.01, status=400)
    assert (
        refused.json["message"]
        == "70.01 can't be handed back: 70.00 of the stay's money are unspent."
    )
    folio = await lodge.give_back(stay, 70, "transfer", reason="Left early")
    assert [one["kind"] for one in folio["payments"]] == ["payment", "refund"]
    assert folio["payments"][1]["reason"] == "Left early"
    assert (folio["unspentAmount"], folio["paymentsTotal"]) == (0, 30)
    await lodge.give_back(stay, 0.01, status=400)
    assert await lodge.accounts() == {"cash": 100, "bank": -70, "sales": -30}


async def test_credit_that_was_spent_elsewhere_is_not_handed_back(lodge: Lodge) -> None:
    """A guest who spends the deposit at the bar has no deposit any more."""
    stay = await lodge.arrive()
    await lodge.pay(stay, 100)
    sale = {"customer_id": stay["customerId"], "payment_method": "credit", "amount_paid": 60}
    items = [{"product_name": "Wine", "quantity": 1, "line_type": "fee", "custom_price": 60}]
    await lodge.api.post(ORDERS, {"items": items, **sale}, status=201)
    await lodge.give_back(stay, 41, status=400)
    await lodge.charge(stay, 50)
    folio = await lodge.pay(stay, 1)
    assert folio["amountOwed"] == 9


async def test_payments_that_are_wrong(lodge: Lodge) -> None:
    """Amounts too fine, none at all, methods that no counter takes, foreign stays."""
    stay = await lodge.book()
    path = f"{STAYS}/{stay['id']}/payments"
    for body, field in (
        ({"amount": 0.001, "method": "cash"}, "amount"),
        ({"amount": 0, "method": "cash"}, "amount"),
        ({"amount": 1, "method": "credit"}, "method"),
        ({"amount": 1, "method": "cloove_pay"}, "method"),
        ({"amount": 1}, "method"),
    ):
        answer = await lodge.api.post(path, body, status=422)
        assert [error["field"] for error in answer.json["details"]] == [field]
    nobody = path.replace(stay["id"], lodge.room_type_id)
    await lodge.api.post(nobody, {"amount": 1, "method": "cash"}, status=404)
    assert (await lodge.folio(stay))["payments"] == []


async def test_the_summary_counts_money_once(lodge: Lodge) -> None:
    """A deposit is credit until a night takes it; sales are what was sold."""
    reader = await lodge.business.client("finance:read")
    stay = await lodge.arrive()
    await lodge.pay(stay, 150)
    found = (await reader.get("/v1/finance/summary", status=200)).data
    assert (found["salesTotal"], found["creditsTotal"]) == (0, 150)
    await lodge.charge(stay, 100)
    await lodge.pay(stay, 20)
    found = (await reader.get("/v1/finance/summary", status=200)).data
    assert (found["salesTotal"], found["creditsTotal"]) == (100, 70)
    assert (found["pendingDebtTotal"], found["pendingOrdersTotal"]) == (0, 0)
    rows = (await reader.get("/v1/finance/transactions", status=200)).data
    came = [Decimal(str(row["amount"])) for row in rows if row["method"] != "credit"]
    assert sum(came) == 170


async def test_money_by_method_is_that_of_orders_and_that_of_stays(lodge: Lodge) -> None:
    """Each once: an order that its stay paid is paid by credit, and the stay's money by its own."""
    stay = await lodge.arrive()
    await lodge.pay(stay, 70, "pos")
    await lodge.charge(stay, 40)
    await lodge.charge(stay, 60)
    await lodge.pay(stay, 80)
    await lodge.give_back(stay, 15)
    sold = {"items": [{"product_name": "Chapman", "quantity": 1, "custom_price": 30}]}
    for method in ("cash", "pos"):
        paid = {**sold, "payment_method": method, "amount_paid": 30}
        await lodge.api.post(ORDERS, paid, status=201)
    reader = await lodge.business.client("orders:read", "finance:read")
    of_orders = by_method((await reader.get(ORDERS, status=200)).json["summary"])
    in_all = by_method((await reader.get("/v1/finance/summary", status=200)).data)
    folio = await lodge.folio(stay)
    of_stay: Counter[str] = Counter()
    for one in folio["payments"]:
        of_stay[one["method"]] += one["amount"] if one["kind"] == "payment" else -one["amount"]
    assert of_stay == {"pos": 70, "cash": 65}
    assert of_orders == {"cash": 30, "pos": 30, "credit": 100}
    assert in_all == {"cash": 30 + 65, "pos": 30 + 70}


def by_method(summary: Body) -> dict[str, float]:
    """The sums of the methods that have any."""
    told = {one["method"]: one["amount"] for one in summary["receivedByMethod"]}
    return {method: amount for method, amount in told.items() if amount}


async def test_a_payment_of_a_stay_is_told_once_by_its_own_method(lodge: Lodge) -> None:
    """In the list of transactions, and in the sums by method; used for an order, it isn't again."""
    stay = await lodge.arrive()
    await lodge.charge(stay, 40)
    await lodge.charge(stay, 60)
    await lodge.pay(stay, 70, "pos")
    await lodge.pay(stay, 50)
    await lodge.give_back(stay, 20)
    api = await lodge.business.client("finance:read")
    listed = await api.get("/v1/finance/transactions", status=200)
    assert [
        (one["type"], one["method"], one["direction"], one["amount"]) for one in listed.data
    ] == [("refund", "cash", "out", 20), ("credit", "cash", "in", 50), ("credit", "pos", "in", 70)]
    assert listed.json["meta"]["total"] == 3
    summary = (await api.get("/v1/finance/summary", status=200)).data
    received = {one["method"]: one["amount"] for one in summary["receivedByMethod"]}
    assert {method: amount for method, amount in received.items() if amount} == {
        "pos": 70, "cash": 30,
    }  # fmt: skip
    assert (summary["salesTotal"], summary["refundsTotal"]) == (100, 0)
    assert summary["cashExpected"] == 30
    assert await lodge.faults() == []
