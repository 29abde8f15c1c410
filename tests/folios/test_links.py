"""Payment links of stays: deposits and balances that come in by a provider."""

import json
from typing import Any

from tests.checkout.till import LINKS
from tests.folios.lodge import Lodge


def _counts(link: dict[str, Any]) -> tuple[Any, ...]:
    return (
        link["status"], link["amountReceived"], link["amountOutstanding"], link["paymentCondition"],
    )  # fmt: skip


async def _told(lodge: Lodge) -> list[dict[str, Any]]:
    """The data of the payments that came in through links."""
    query = """
        SELECT payload FROM webhook_events
        WHERE book_id = $1 AND type = 'payment.received' ORDER BY id
    """
    rows = await lodge.sql.fetch(query, lodge.book_id)
    found = [json.loads(row["payload"])["data"] for row in rows]
    return [one for one in found if "paymentLink" in one]


async def test_a_deposit_comes_by_a_link(lodge: Lodge) -> None:
    """It asks for the deposit, is paid, and the deposit pays the first night."""
    stay = await lodge.book(deposit_amount=60)
    link = await lodge.link(stay)
    assert (link["amount"], link["description"]) == (60, f"Stay {stay['shortCode']}")
    assert (link["customerId"], link["targetType"]) == (stay["customerId"], "reservation")
    assert (await lodge.link(stay))["id"] == link["id"]
    assert _counts(await lodge.pay_link(link)) == ("PAID", 60, 0, [])
    folio = await lodge.folio(stay)
    assert (folio["unspentAmount"], folio["payments"][0]["method"]) == (60, "cloove_pay")
    assert folio["payments"][0]["paymentLinkId"] == link["id"]
    [event] = await _told(lodge)
    assert event["paymentLink"]["targetType"] == "reservation"
    assert event["paymentLink"]["targetId"] == stay["id"] == event["entityId"]
    assert event["metadata"]["amount"] == 60
    await lodge.act(stay, "check-in")
    await lodge.audit(1)
    assert (await lodge.folio(stay))["amountOwed"] == 40
    assert await lodge.differences() == []


async def test_a_link_asks_for_what_the_stay_owes(lodge: Lodge) -> None:
    """Charges make it more, payments at the desk less; nothing is asked of one who owes none."""
    stay = await lodge.arrive(deposit_amount=50)
    link = await lodge.link(stay)
    await lodge.charge(stay, 30)
    reader = await lodge.business.client("payment_links:read")
    path = f"{LINKS}/{link['id']}"
    assert (await reader.get(path, status=200)).data["amountOutstanding"] == 50
    await lodge.pay(stay, 20)
    assert (await reader.get(path, status=200)).data["amountOutstanding"] == 30
    await lodge.pay(stay, 60)
    assert (await reader.get(path, status=200)).data["amountOutstanding"] == 0
    await lodge.charge(stay, 90)
    assert (await reader.get(path, status=200)).data["amountOutstanding"] == 40
    assert _counts(await lodge.pay_link(link)) == ("PAID", 40, 0, [])
    folio = await lodge.folio(stay)
    assert (folio["amountOwed"], folio["unspentAmount"]) == (0, 0)
    maker = await lodge.business.client("payment_links:write")
    body = {"target_type": "reservation", "target_id": stay["id"]}
    assert "has nothing outstanding" in (await maker.post(LINKS, body, status=400)).json["message"]
    assert await lodge.differences() == []


async def test_payments_that_do_not_fit(lodge: Lodge) -> None:
    """Half of it leaves the rest to be asked for; more is kept for the guest."""
    stay = await lodge.book(deposit_amount=100)
    link = await lodge.link(stay)
    assert _counts(await lodge.pay_link(link, "under")) == ("active", 50, 50, ["partial"])
    assert _counts(await lodge.pay_link(link, "over")) == ("PAID", 125, 0, ["over", "partial"])
    assert (await lodge.folio(stay))["unspentAmount"] == 125
    assert await lodge.differences() == []


async def test_a_payment_that_its_provider_takes_back(lodge: Lodge) -> None:
    """Of the unspent money first, then of the orders, which owe again."""
    stay = await lodge.arrive(deposit_amount=100)
    link = await lodge.link(stay)
    await lodge.pay_link(link)
    order = await lodge.charge(stay, 70)
    await lodge.pay(stay, 10)
    assert (await lodge.folio(stay))["unspentAmount"] == 40
    back = await lodge.pay_link(link, "reversed")
    assert _counts(back)[1:] == (0, 0, ["reversed"])
    folio = await lodge.folio(stay)
    assert [one["kind"] for one in folio["payments"]] == ["payment", "payment", "reversal"]
    assert (folio["unspentAmount"], folio["paymentsTotal"], folio["amountOwed"]) == (0, 10, 60)
    owing = (await lodge.api.get(f"/v1/orders/{order['id']}", status=200)).data
    assert (owing["paymentStatus"], owing["remainingAmount"]) == ("partial", 60)
    assert await lodge.differences() == []


async def test_money_that_was_spent_elsewhere_is_a_claim(lodge: Lodge) -> None:
    """The guest drank the deposit at the bar, and the bank took it back."""
    stay = await lodge.book(deposit_amount=100)
    link = await lodge.link(stay)
    await lodge.pay_link(link)
    sale = {"customer_id": stay["customerId"], "payment_method": "credit", "amount_paid": 60}
    items = [{"product_name": "Wine", "quantity": 1, "line_type": "fee", "custom_price": 60}]
    await lodge.api.post("/v1/orders", {"items": items, **sale}, status=201)
    await lodge.pay_link(link, "reversed")
    folio = await lodge.folio(stay)
    assert [one["amount"] for one in folio["payments"]] == [100, 40]
    assert (await lodge.accounts())["unapplied_receipts"] == 60
    assert await lodge.differences() == []


async def test_a_foreign_stay_has_no_link(lodge: Lodge) -> None:
    """The field says what it names."""
    api = await lodge.business.client("payment_links:write")
    body = {"target_type": "reservation", "target_id": lodge.room_type_id}
    answer = await api.post(LINKS, body, status=422)
    assert answer.wrong_fields == {"target_id"}
    listed = await (await lodge.business.client("payment_links:read")).get(
        f"{LINKS}?target_type=reservation", status=200
    )
    assert listed.data == []
