"""Orders that are put off, called off or taken up again: what the schedule says, and what not."""

from datetime import timedelta
from uuid import UUID

import pytest

from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, Shop, fee
from tests.orders.test_change import AUTOMATE
from tillhouse.kit.clock import iso, now


def _later(days: float = 1) -> str:
    return iso(now() + timedelta(days=days))


async def test_what_is_put_off_is_not_confirmed_any_more(shop: Shop) -> None:
    """A confirmation is of the schedule that it confirmed; the next one counts anew."""
    order = await shop.sell(fee(1000), scheduled_for=_later())
    first = await shop.confirm(order, amount_paid=0)
    assert first["scheduledConfirmedAt"] is not None
    put_off = await shop.patch(order, scheduled_for=_later(3))
    assert (put_off["status"], put_off["scheduledConfirmedAt"]) == ("scheduled", None)
    again = await shop.confirm(order)
    assert (again["status"], again["amountPaid"]) == ("completed", 1000)
    assert again["scheduledConfirmedAt"] > first["scheduledConfirmedAt"]


async def test_a_time_alone_takes_nothing_up_again(shop: Shop) -> None:
    """A cancelled order comes back by its status, not by another field."""
    product = await shop.product(stock=5)
    variant = product["variants"][0]["id"]
    item = {"product_id": product["id"], "product_name": "Rice", "quantity": 2}
    order = await shop.to(await shop.sell(item), "cancelled")
    answer = await shop.patch(order, scheduled_for=_later(), status=400)
    assert answer.error == "request_failed"
    assert "status" in answer.json["message"]
    assert await shop.show(order) == order
    assert await shop.stock(variant) == (5, 0)
    back = await shop.to(order, "scheduled", scheduled_for=_later())
    assert (back["status"], back["cancellation"]) == ("scheduled", None)
    assert await shop.stock(variant) == (5, 2)


@pytest.mark.parametrize("start", ["pending", "scheduled", "cancelled"])
async def test_nothing_is_called_off_and_scheduled_at_once(shop: Shop, start: str) -> None:
    """Cancelled, with a time to come: one of the two is a mistake."""
    when = {"scheduled_for": _later()} if start == "scheduled" else {}
    order = await shop.sell(fee(1000), **when)
    if start == "cancelled":
        order = await shop.to(order, "cancelled")
    wanted = {"status": "cancelled", "scheduled_for": _later(2)}
    answer = await shop.patch_all(order, wanted, 422)
    assert answer.wrong_fields == {"scheduled_for"}
    assert await shop.show(order) == order
    # To take its time away goes with it.
    done = await shop.patch_all(order, {"status": "cancelled", "scheduled_for": None})
    assert (done["status"], done["scheduledFor"]) == ("cancelled", None)


async def test_what_can_not_be_is_not_asked_for_a_time(shop: Shop) -> None:
    """A completed order isn't scheduled, so that it lacks no time."""
    order = await shop.sell(fee(1000), amount_paid=1000)
    for wanted in ({"status": "scheduled"}, {"status": "scheduled", "scheduled_for": None}):
        answer = await shop.patch_all(order, wanted, 400)
        assert answer.error == "request_failed"
        assert "can't become scheduled" in answer.json["message"]


async def test_a_paid_automated_order_is_not_cancelled_by_a_detour(shop: Shop) -> None:
    """Made pending again, it is still paid: what came in by itself has to go back first."""
    order = await shop.sell(fee(1000), amount_paid=1000)
    await shop.sql.execute(AUTOMATE, shop.book, UUID(order["id"]))
    await shop.to(order, "pending")
    path = f"{ORDERS}/{order['id']}"
    answer = await shop.api.patch(path, {"status": "cancelled"}, status=400)
    assert answer.error == "request_failed"
    assert (await shop.show(order))["status"] == "pending"
    # Once its payment is taken back, nothing is in the way.
    await shop.patch(order, amount_paid=0)
    assert (await shop.to(order, "cancelled"))["status"] == "cancelled"


async def test_a_live_order_does_not_come_to_be_paid_through_nobody(open_shop: Open) -> None:
    """Without a provider cloove_pay is refused wherever it could be said, not at first only."""
    live = await (await open_shop()).other_book()
    order = await live.sell(fee(1000))
    later = await live.sell(fee(1000), scheduled_for=_later())
    answer = await live.patch(order, payment_method="cloove_pay", status=400)
    assert answer.error == "request_failed"
    assert "provider" in answer.json["message"]
    answer = await live.confirm(later, payment_method="cloove_pay", amount_paid=0, status=400)
    assert answer.error == "request_failed"
    assert await live.show(order) == order
    assert await live.show(later) == later
    assert (await live.patch(order, payment_method="pos"))["paymentMethod"] == "pos"
