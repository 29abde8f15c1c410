"""Payment links of stays: deposits and balances that come in by a provider."""

import asyncio
import json
from typing import Any

import pytest

from tests.checkout.till import LINKS
from tests.folios.lodge import Lodge

_AMOUNTS = ("amount", "amountKept", "amountTendered", "changeAmount")


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
    told = {name: event["metadata"][name] for name in _AMOUNTS}
    assert told == {"amount": 60, "amountKept": 60, "amountTendered": 60, "changeAmount": 0}
    await lodge.act(stay, "check-in")
    await lodge.audit(1)
    assert (await lodge.folio(stay))["amountOwed"] == 40
    assert await lodge.differences() == []


async def test_a_link_asks_for_what_the_stay_owes(lodge: Lodge) -> None:
    """Charges make it more, payments at the desk less; who owes nothing gets no link."""
    stay = await lodge.arrive(deposit_amount=50)
    link = await lodge.link(stay)
    await lodge.charge(stay, 30)
    reader = await lodge.business.client("payment_links:read")
    path = f"{LINKS}/{link['id']}"
    assert (await reader.get(path, status=200)).data["amountOutstanding"] == 50
    await lodge.pay(stay, 20)
    assert (await reader.get(path, status=200)).data["amountOutstanding"] == 30
    await lodge.charge(stay, 40)
    assert (await reader.get(path, status=200)).data["amountOutstanding"] == 50
    await lodge.pay(stay, 10)
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


async def _link_now(lodge: Lodge, link: dict[str, Any]) -> dict[str, Any]:
    api = await lodge.business.client("payment_links:read")
    return (await api.get(f"{LINKS}/{link['id']}", status=200)).data


@pytest.mark.parametrize("verb", ["cancel", "no-show"])
async def test_a_link_ends_with_its_stay(lodge: Lodge, verb: str) -> None:
    """Also one whose page was opened: money that comes late is booked as over, and told."""
    stay = await lodge.book(deposit_amount=60)
    link = await lodge.link(stay)
    page = f"/pay/{link['reference']}"
    await lodge.business.anybody.get(page, status=200)
    assert (await lodge.act(stay, verb)).status == 200
    assert _counts(await _link_now(lodge, link)) == ("CANCELLED", 0, 0, [])
    assert _counts(await lodge.pay_link(link)) == ("CANCELLED", 60, 0, ["late", "over"])
    folio = await lodge.folio(stay)
    assert (folio["unspentAmount"], folio["paymentsTotal"]) == (60, 60)
    [event] = await _told(lodge)
    assert event["paymentLink"]["id"] == link["id"]
    assert await lodge.differences() == []


async def test_a_link_ends_with_the_check_out(lodge: Lodge) -> None:
    """A stay that was paid at the desk ends it as paid, one that leaves a debt as cancelled."""
    for paid, status in ((100, "PAID"), (0, "CANCELLED")):
        stay = await lodge.arrive(deposit_amount=50)
        link = await lodge.link(stay)
        if paid:
            await lodge.pay(stay, paid)
        await lodge.leave(stay, leave_as_debt=True)
        assert (await _link_now(lodge, link))["status"] == status
    again = await lodge.link(stay)
    assert (again["id"] != link["id"], again["amount"]) == (True, 100)
    assert _counts(await lodge.pay_link(again)) == ("PAID", 100, 0, [])
    assert await lodge.differences() == []


async def test_a_link_beside_a_cancellation(lodge: Lodge) -> None:
    """In either order no link stays that asks for a stay which is cancelled."""
    api = await lodge.business.client("payment_links:write")
    for _ in range(6):
        stay = await lodge.book(deposit_amount=60)
        body = {"target_type": "reservation", "target_id": stay["id"]}
        made, cancelled = await asyncio.gather(api.post(LINKS, body), lodge.act(stay, "cancel"))
        assert cancelled.status == 200
        assert made.status in (201, 400)
        if made.status == 201:
            assert (await _link_now(lodge, made.data))["status"] == "CANCELLED"


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
