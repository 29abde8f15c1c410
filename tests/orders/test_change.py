"""PATCH /v1/orders/:id: statuses, payment, total, customer, term, schedule, cancellation."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, Body, Shop, fee, line, variant_of
from tillhouse.kit.clock import iso, now, parse_timestamp

STATUSES = ("scheduled", "pending", "completed", "cancelled", "refunded")
ALLOWED = {
    "scheduled": {"pending", "completed", "cancelled"},
    "pending": {"scheduled", "completed", "cancelled"},
    "completed": {"pending", "cancelled"},
    "cancelled": {"pending", "scheduled"},
    "refunded": set[str](),
}
REFUND = "UPDATE orders SET status = 'refunded' WHERE book_id = $1 AND id = $2"
AUTOMATE = "UPDATE orders SET is_automated = true WHERE book_id = $1 AND id = $2"


def _later(days: float = 1) -> str:
    return iso(now() + timedelta(days=days))


async def _at(shop: Shop, status: str, **fields: Any) -> Body:
    """An order of this status."""
    if status == "scheduled":
        return await shop.sell(fee(1000), scheduled_for=_later(), **fields)
    order = await shop.sell(fee(1000), **fields)
    if status == "refunded":
        await shop.sql.execute(REFUND, shop.book, UUID(order["id"]))
        return await shop.show(order)
    return order if status == "pending" else await shop.to(order, status)


@pytest.mark.parametrize("target", STATUSES[:4])
@pytest.mark.parametrize("start", STATUSES)
async def test_every_transition(shop: Shop, start: str, target: str) -> None:
    """Those of the table happen, the others are refused and change nothing."""
    order = await _at(shop, start)
    times = {"scheduled_for": _later(2)} if target == "scheduled" and start != target else {}
    await shop.news()
    answer = await shop.api.patch(f"{ORDERS}/{order['id']}", {"status": target, **times})
    if start == target:
        assert (answer.status, answer.data) == (200, order)
        assert await shop.told() == []
    elif target in ALLOWED[start]:
        assert (answer.status, answer.data["status"]) == (200, target)
        assert answer.data == await shop.show(order)
    else:
        assert (answer.status, answer.error) == (400, "request_failed")
        assert await shop.show(order) == order
        assert await shop.told() == []


@pytest.mark.parametrize("start", STATUSES)
async def test_refunded_is_never_set(shop: Shop, start: str) -> None:
    """It is no value of the field."""
    order = await _at(shop, start)
    answer = await shop.patch_all(order, {"status": "refunded"}, 422)
    assert answer.wrong_fields == {"status"}
    assert await shop.show(order) == order


@pytest.mark.parametrize("start", ["pending", "cancelled"])
async def test_scheduling_takes_a_time(shop: Shop, start: str) -> None:
    """Without a future one the field is named."""
    order = await _at(shop, start)
    path = f"{ORDERS}/{order['id']}"
    for fields in ({}, {"scheduled_for": None}, {"scheduled_for": _later(-1)}):
        answer = await shop.api.patch(path, {"status": "scheduled", **fields}, status=422)
        assert answer.wrong_fields == {"scheduled_for"}
    at = _later(3)
    changed = await shop.to(order, "scheduled", scheduled_for=at)
    assert (changed["status"], changed["scheduledFor"]) == ("scheduled", at)


async def test_the_schedule_changes(shop: Shop) -> None:
    """To another time, never into the past; cleared, the order is scheduled no more."""
    order = await _at(shop, "scheduled")
    at = _later(9)
    changed = await shop.patch(order, scheduled_for=at)
    assert (changed["status"], changed["scheduledFor"]) == ("scheduled", at)
    answer = await shop.patch(order, status=422, scheduled_for=_later(-1))
    assert answer.wrong_fields == {"scheduled_for"}
    assert await shop.show(order) == changed
    cleared = await shop.patch(order, scheduled_for=None)
    assert cleared["scheduledFor"] is None
    assert cleared["status"] == "pending"
    planned = await shop.patch(await _at(shop, "pending"), scheduled_for=at)
    assert (planned["status"], planned["scheduledFor"]) == ("scheduled", at)


async def test_payment_goes_up(shop: Shop) -> None:
    """It is the whole amount so far; what is paid in full is completed."""
    order = await shop.sell(fee(1000))
    part = await shop.patch(order, amount_paid=400)
    assert (part["status"], part["paymentStatus"]) == ("pending", "partial")
    assert (part["amountPaid"], part["remainingAmount"]) == (400, 600)
    full = await shop.patch(order, amount_paid=1000)
    assert (full["status"], full["paymentStatus"]) == ("completed", "paid")
    assert (full["amountPaid"], full["remainingAmount"]) == (1000, 0)
    over = await shop.patch(order, amount_paid=1200.5)
    assert (over["paymentStatus"], over["amountPaid"], over["remainingAmount"]) == (
        "paid", 1200.5, 0,
    )  # fmt: skip


async def test_payment_goes_down(shop: Shop) -> None:
    """A correction: the payment status follows."""
    order = await shop.sell(fee(1000), amount_paid=1000)
    part = await shop.patch(order, amount_paid=300)
    assert (part["paymentStatus"], part["amountPaid"]) == ("partial", 300)
    assert part["remainingAmount"] == 700
    none = await shop.patch(order, amount_paid=0)
    assert (none["paymentStatus"], none["remainingAmount"]) == ("pending", 1000)


async def test_the_total_is_corrected_by_an_adjustment(shop: Shop) -> None:
    """The lines stay; the sum of corrections stands beside them, either way."""
    order = await shop.sell(fee(1000), amount_paid=600)
    less = await shop.patch(order, total_amount=900.5)
    assert (less["totalAmount"], less["adjustmentAmount"]) == (900.5, -99.5)
    assert (less["subtotalAmount"], less["items"]) == (1000, order["items"])
    assert (less["remainingAmount"], less["paymentStatus"]) == (300.5, "partial")
    more = await shop.patch(order, total_amount=1100)
    assert (more["totalAmount"], more["adjustmentAmount"]) == (1100, 100)
    same = await shop.patch(order, total_amount=1000)
    assert (same["totalAmount"], same["adjustmentAmount"]) == (1000, 0)
    paid = await shop.patch(order, total_amount=600)
    assert (paid["paymentStatus"], paid["status"]) == ("paid", "completed")
    nothing = await shop.patch(await shop.sell(fee(10)), total_amount=0)
    assert (nothing["totalAmount"], nothing["paymentStatus"]) == (0, "paid")


async def test_an_explicit_status_wins(shop: Shop) -> None:
    """Over the one that the payment would give, both ways."""
    order = await shop.sell(fee(1000))
    waiting = await shop.patch_all(order, {"status": "pending", "amount_paid": 1000})
    assert (waiting["status"], waiting["paymentStatus"]) == ("pending", "paid")
    order = await shop.sell(fee(1000))
    done = await shop.patch_all(order, {"status": "completed", "amount_paid": 100})
    assert (done["status"], done["paymentStatus"]) == ("completed", "partial")
    assert done["remainingAmount"] == 900


async def test_customers_are_assigned(shop: Shop) -> None:
    """By id, or by a name that is found or made."""
    known = await shop.customer("Ike Obi", whatsapp_number="+2348030000002")
    order = await shop.sell()
    by_id = await shop.patch(order, customer_id=known["id"])
    assert by_id["customer"] == {
        "id": known["id"], "name": "Ike Obi", "phoneNumber": None,
        "whatsappNumber": "+2348030000002",
    }  # fmt: skip
    by_name = await shop.patch(order, customer_name="Tunde New")
    assert by_name["customer"]["name"] == "Tunde New"
    again = await shop.patch(await shop.sell(), customer_name="Tunde New")
    assert again["customer"]["id"] == by_name["customer"]["id"]
    back = await shop.patch(order, customer_name="Ike Obi")
    assert back["customer"]["id"] == known["id"]


async def test_terms_are_assigned_and_cleared(shop: Shop) -> None:
    """null clears; leaving it out leaves it."""
    term = await shop.term()
    order = await shop.sell()
    named = {"id": term["id"], "name": term["name"]}
    assert (await shop.patch(order, academic_term_id=term["id"]))["academicTerm"] == named
    assert (await shop.patch(order, payment_method="pos"))["academicTerm"] == named
    assert (await shop.patch(order, academic_term_id=None))["academicTerm"] is None


async def test_only_what_is_named_changes(shop: Shop) -> None:
    """An empty change changes nothing, not even when it was last changed."""
    order = await shop.sell(fee(1000), amount_paid=10, customer_name="Ada", notes="n")
    await shop.news()
    assert await shop.patch(order) == order
    assert await shop.patch(order, amount_paid=10, payment_method="cash") == order
    assert await shop.told() == []
    changed = await shop.patch(order, payment_method="transfer")
    expected = {**order, "paymentMethod": "transfer", "updatedAt": changed["updatedAt"]}
    assert changed == expected
    assert parse_timestamp(changed["updatedAt"]) >= parse_timestamp(order["updatedAt"])


async def test_a_channel_order_is_treated_and_untreated(shop: Shop) -> None:
    """true notes when, once; false returns it to the queue."""
    order = await shop.sell(channel="instagram")
    before = now()
    treated = await shop.patch(order, channel_fulfilled=True)
    assert before <= parse_timestamp(treated["channelFulfilledAt"]) <= now()
    again = await shop.patch(order, channel_fulfilled=True)
    assert again["channelFulfilledAt"] == treated["channelFulfilledAt"]
    assert (await shop.patch(order, channel_fulfilled=False))["channelFulfilledAt"] is None


@pytest.mark.parametrize("start", ["scheduled", "pending", "completed"])
async def test_a_cancellation_is_kept(shop: Shop, start: str) -> None:
    """Why, when, by whom, from which status, and whether the goods went back."""
    product = await shop.product(stock=5)
    times = {"scheduled_for": _later()} if start == "scheduled" else {}
    order = await shop.sell(line(product, 2), **times)
    order = order if start != "completed" else await shop.to(order, "completed")
    before = now()
    changed = await shop.to(order, "cancelled", cancellation_reason="Out of gas")
    block = changed["cancellation"]
    assert before <= parse_timestamp(block.pop("cancelledAt")) <= now()
    assert block == {
        "reason": "Out of gas", "cancelledBy": order["recordedBy"], "previousStatus": start,
        "restocked": True,
    }  # fmt: skip
    assert await shop.stock(variant_of(product)) == (5, 0)
    assert (await shop.to(await shop.sell(), "cancelled"))["cancellation"]["reason"] is None


async def test_a_person_cancels(shop: Shop) -> None:
    """cancelledBy is who cancelled, not who recorded."""
    order = await shop.sell()
    headers = {"service-environment": "test"}
    path = f"{ORDERS}/{order['id']}"
    answer = await shop.business.owner.patch(path, {"status": "cancelled"}, headers=headers)
    by = {"id": shop.business.user_id, "name": "Ada Owner"}
    assert answer.data["cancellation"]["cancelledBy"] == by


async def test_automated_orders(shop: Shop) -> None:
    """A completed one can't be cancelled: its payment may have to be reversed; others can."""
    for start, status in (("completed", 400), ("pending", 200)):
        order = await _at(shop, start)
        await shop.sql.execute(AUTOMATE, shop.book, UUID(order["id"]))
        path = f"{ORDERS}/{order['id']}"
        answer = await shop.api.patch(path, {"status": "cancelled"}, status=status)
        if status == 400:
            assert answer.error == "request_failed"
            assert (await shop.show(order))["status"] == "completed"


async def test_stock_follows_the_status(shop: Shop) -> None:
    """Cancelled gives back, un-cancelled takes again, scheduled only promises."""
    product = await shop.product(stock=10)
    variant = variant_of(product)
    order = await shop.sell(line(product, 3))
    steps: list[tuple[str, Body, tuple[float, float]]] = [
        ("completed", {}, (7, 0)),
        ("pending", {}, (7, 0)),
        ("scheduled", {"scheduled_for": _later()}, (10, 3)),
        ("pending", {}, (7, 0)),
        ("cancelled", {}, (10, 0)),
        ("pending", {}, (7, 0)),
        ("cancelled", {}, (10, 0)),
        ("scheduled", {"scheduled_for": _later()}, (10, 3)),
        ("cancelled", {}, (10, 0)),
    ]
    for status, fields, expected in steps:
        await shop.to(order, status, **fields)
        assert await shop.stock(variant) == expected, status


async def test_what_was_sold_meanwhile_is_not_taken_again(shop: Shop) -> None:
    """Short stock refuses the change and leaves the order as it was."""
    product = await shop.product(stock=2)
    order = await shop.to(await shop.sell(line(product, 2)), "cancelled")
    await shop.sell(line(product, 1))
    answer = await shop.api.patch(f"{ORDERS}/{order['id']}", {"status": "pending"}, status=400)
    assert answer.error == "request_failed"
    assert "Jollof rice" in answer.json["message"]
    assert await shop.show(order) == order
    assert await shop.stock(variant_of(product)) == (1, 0)


async def test_a_business_may_keep_cancelled_goods_out(open_shop: Open) -> None:
    """Prepared food goes to waste; a deletion restores it all the same."""
    shop = await open_shop()
    await shop.set_trade(restocks_cancelled=False)
    product = await shop.product(stock=5)
    order = await shop.to(await shop.sell(line(product, 2)), "cancelled")
    assert order["cancellation"]["restocked"] is False
    assert await shop.stock(variant_of(product)) == (3, 0)
    await shop.to(order, "pending")
    assert await shop.stock(variant_of(product)) == (3, 0)
    await shop.to(order, "cancelled")
    await shop.delete(order)
    assert await shop.stock(variant_of(product)) == (5, 0)


async def test_goods_that_are_sold_no_more_still_come_back(shop: Shop) -> None:
    """Also after their product was deleted."""
    product = await shop.product(stock=5)
    order = await shop.sell(line(product, 2))
    await shop.api.delete(f"/v1/products/{product['id']}", status=200)
    await shop.to(order, "cancelled")
    moved = await shop.sql.fetchval(
        "SELECT sum(on_hand_change) FROM stock_moves WHERE book_id = $1 AND variant_id = $2",
        shop.book,
        UUID(variant_of(product)),
    )
    assert moved == 5


async def test_only_an_automated_payment_is_asked_about(shop: Shop) -> None:
    """The requery of any other order is refused."""
    order = await shop.sell()
    answer = await shop.api.post(f"{ORDERS}/{order['id']}/requery", status=400)
    assert answer.error == "request_failed"


WRONG: dict[str, tuple[Any, ...]] = {
    "status": ("Pending", "paid", "", 5, None, []),
    "customer_id": (5, "x", None, "0198c2f0-0000-7000-8000-000000000001"),
    "customer_name": (5, "", None, "x" * 5_001),
    "payment_method": ("cheque", "", 5, None),
    "amount_paid": ("five", -1, 0.001, 1e15, True, None),
    "total_amount": ("five", -1, 0.001, 1e15, True, None),
    "academic_term_id": (5, "x", "0198c2f0-0000-7000-8000-000000000001"),
    "scheduled_for": (5, "soon", "2031-01-31", "2020-01-31T10:00:00Z"),
    "channel_fulfilled": ("true", 1, None),
    "items": ([], None),
    "notes": ("x",),
    "amountPaid": (5,),
}


@pytest.mark.parametrize("field", WRONG)
async def test_a_wrong_field_is_named(shop: Shop, field: str) -> None:
    """And nothing changes; what can't be changed is unknown here."""
    order = await shop.sell(fee(1000), scheduled_for=_later())
    before = await shop.footprint()
    for value in WRONG[field]:
        answer = await shop.patch_all(order, {field: value}, 422)
        assert answer.wrong_fields == {field}, value
    assert await shop.show(order) == order
    assert await shop.footprint() == before


async def test_all_that_is_wrong_is_named_at_once(shop: Shop) -> None:
    """Form and rules together."""
    order = await shop.sell()
    body = {
        "status": "done", "amount_paid": -1, "total_amount": 0.001, "customer_id": str(uuid4()),
        "academic_term_id": "x", "scheduled_for": _later(-1), "payment": 5,
    }  # fmt: skip
    answer = await shop.patch_all(order, body, 422)
    assert answer.wrong_fields == set(body)


async def test_ids_of_others_are_unknown(open_shop: Open) -> None:
    """A customer or term of another business, or of the other book; an order of theirs is 404."""
    shop, stranger = await open_shop(), await open_shop()
    order = await shop.sell()
    for other in (stranger, await shop.other_book()):
        customer, term = await other.customer(), await other.term()
        body = {"customer_id": customer["id"], "academic_term_id": term["id"]}
        answer = await shop.patch_all(order, body, 422)
        assert answer.wrong_fields == set(body)
        theirs = await other.sell()
        answer = await shop.patch_all(theirs, {"amount_paid": 5}, 404)
        assert answer.error == "not_found"
        assert await other.show(theirs) == theirs
