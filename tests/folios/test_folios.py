"""The folio of a stay: nights, orders, payments, and what is unspent of them."""

from decimal import Decimal

from tests.folios.lodge import STAYS, Lodge
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
