"""Money that a provider takes back from a stay: orders owe again what it had paid."""

from decimal import Decimal
from uuid import UUID

from tests.calls import calling
from tests.folios.lodge import Lodge
from tillhouse.folios import payments as folios
from tillhouse.orders.payments.rules import Tender


async def _take_back(lodge: Lodge, stay_id: str, amount: int) -> Decimal:
    async with calling(lodge.services, lodge.business) as call:
        stay = await folios.lock(call, UUID(stay_id))
        return await folios.take_back(call, stay, Tender(amount=Decimal(amount), method="cash"))


async def test_orders_owe_again(lodge: Lodge) -> None:
    """The latest gives first; the debt is there again."""
    stay = await lodge.arrive()
    first, second = await lodge.charge(stay, 40), await lodge.charge(stay, 50)
    await lodge.pay(stay, 100)
    assert await _take_back(lodge, stay["id"], 70) == 70
    folio = await lodge.folio(stay)
    left = {one["orderId"]: one["remainingAmount"] for one in folio["charges"]}
    assert left == {first["id"]: 10, second["id"]: 50}
    assert (folio["amountOwed"], folio["unspentAmount"], folio["paymentsTotal"]) == (60, 0, 30)
    order = (await lodge.api.get(f"/v1/orders/{second['id']}", status=200)).data
    assert [one["kind"] for one in order["payments"]] == ["payment", "correction"]
    await lodge.pay(stay, 60)
    assert (await lodge.leave(stay, leave_as_debt=True))["amountOwed"] == 100


async def test_no_more_than_there_is(lodge: Lodge) -> None:
    """The part that the guest has spent elsewhere is no longer there."""
    stay = await lodge.book()
    await lodge.pay(stay, 100)
    sale = {"customer_id": stay["customerId"], "payment_method": "credit", "amount_paid": 60}
    items = [{"product_name": "Wine", "quantity": 1, "line_type": "fee", "custom_price": 60}]
    await lodge.api.post("/v1/orders", {"items": items, **sale}, status=201)
    assert await _take_back(lodge, stay["id"], 100) == 40


async def test_what_was_handed_back_otherwise_is_no_longer_there(lodge: Lodge) -> None:
    """An order of which a part was refunded in cash gives what it still holds, and no more."""
    stay = await lodge.arrive()
    order = await lodge.charge(stay, 100)
    await lodge.pay(stay, 100)
    path = f"/v1/orders/{order['id']}"
    await lodge.api.post(path + "/refunds", {"amount": 30, "method": "cash"}, status=201)
    assert await _take_back(lodge, stay["id"], 100) == 70
    after = (await lodge.api.get(path, status=200)).data
    assert (after["amountPaid"], after["refundedAmount"], after["remainingAmount"]) == (0, 30, 70)
    folio = await lodge.folio(stay)
    assert (folio["amountOwed"], folio["unspentAmount"]) == (70, 0)
    assert await lodge.faults() == []


async def test_the_excess_of_an_order_is_taken_back_once(lodge: Lodge) -> None:
    """A lower total left 40 unspent: with all of 100 gone, the guest owes the 60."""
    stay = await lodge.arrive()
    order = await lodge.charge(stay, 100)
    await lodge.pay(stay, 100)
    path = f"/v1/orders/{order['id']}"
    await lodge.api.patch(path, {"total_amount": 60}, status=200)
    assert await _take_back(lodge, stay["id"], 100) == 100
    after = (await lodge.api.get(path, status=200)).data
    assert (after["amountPaid"], after["remainingAmount"]) == (0, 60)
    folio = await lodge.folio(stay)
    told = (folio["paymentsTotal"], folio["amountOwed"], folio["unspentAmount"])
    assert told == (0, 60, 0)
    assert await lodge.faults() == []
