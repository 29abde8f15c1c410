"""The answers to later requests: null fields, receipts, removed tags, actors of stock moves."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.orders.conftest import Open
from tests.orders.receipts import open_page, receipt_url
from tests.orders.shop import ORDERS, Body, Shop, fee, line, variant_of
from tillhouse.kit.clock import iso, now, start_of_day

AGE = "UPDATE receipts SET created_at = created_at - $3::interval WHERE book_id = $1 AND id = $2"


async def test_null_is_left_out(shop: Shop) -> None:
    """A client that sends every field sends null for the empty ones."""
    names = (
        "payment_method", "amount_paid", "discount_amount", "promotion_id", "customer_id",
        "customer_name", "store_id", "store_name", "channel", "tags", "notes", "scheduled_for",
        "occurred_at", "service_mode", "service_charge_amount", "table_session_id", "table_label",
        "covers", "send_to_kitchen", "served_by_user_id", "hotel_reservation_id", "hotel_room_id",
        "academic_term_id",
    )  # fmt: skip
    item: Body = {"product_name": "Thing", "quantity": 1, "custom_price": 10}
    nothing = {"product_id": None, "variant_id": None, "line_type": None, "modifiers": None}
    plain = await shop.sell(item)
    order = await shop.sell({**item, **nothing}, **dict.fromkeys(names))
    own = {"id", "shortCode", "occurredAt", "date", "createdAt", "updatedAt", "items"}
    assert {k: v for k, v in order.items() if k not in own} == {
        k: v for k, v in plain.items() if k not in own
    }
    assert order["paymentMethod"] == "cash"
    assert [one["lineType"] for one in order["items"]] == ["product"]
    later = await shop.sell(item, scheduled_for=iso(now() + timedelta(days=1)))
    done = await shop.confirm(later, payment_method=None, amount_paid=None)
    assert (done["paymentMethod"], done["amountPaid"]) == ("cash", 10)


async def test_no_charge_is_no_service(open_shop: Open) -> None:
    """A till that always sends the charge, 0 where there is none, does not fill the board."""
    shop = await open_shop(business_type="retail")
    assert (await shop.sell(service_charge_amount=0))["kitchenTicketId"] is None
    assert (await shop.sell(service_charge_amount=1))["kitchenTicketId"] is not None


async def test_an_order_names_its_newest_receipt(open_shop: Open) -> None:
    """For the week after it was made; the address opens, and is the same at every read."""
    shop = await open_shop()
    order = await shop.sell()
    assert order["receiptUrl"] is None
    await receipt_url(shop, order)
    first = (await shop.show(order))["receiptUrl"]
    assert (await open_page(shop, first)).status == 200
    assert (await shop.show(order))["receiptUrl"] == first
    listed = (await shop.api.get(ORDERS, status=200)).data
    assert [one["receiptUrl"] for one in listed] == [first]
    changed = await shop.patch(order, amount_paid=100)
    assert changed["receiptUrl"] == first
    await receipt_url(shop, order)
    second = (await shop.show(order))["receiptUrl"]
    assert second.split("?")[0] != first.split("?")[0]
    assert (await open_page(shop, second)).status == 200


async def test_an_address_that_has_expired_is_not_named(shop: Shop) -> None:
    """A week after the receipt was made, less and more a minute."""
    order = await shop.sell()
    made = UUID((await receipt_url(shop, order)).split("?")[0].rsplit("/", 1)[1])
    await shop.sql.execute(AGE, shop.book, made, timedelta(days=7, minutes=-1))
    url = (await shop.show(order))["receiptUrl"]
    assert (await open_page(shop, url)).status == 200
    await shop.sql.execute(AGE, shop.book, made, timedelta(minutes=2))
    assert (await shop.show(order))["receiptUrl"] is None


async def test_a_removed_tag_finds_nothing(open_shop: Open) -> None:
    """It is on no order any more: neither shown nor found, and no other order either."""
    shop = await open_shop()
    gone, stays = await shop.tag("gone"), await shop.tag("stays")
    both = await shop.sell(tags=["gone", "stays"])
    await shop.sell(tags=["stays"])
    await shop.sell()

    async def found(*tags: Body) -> tuple[int, float]:
        ids = ",".join(tag["id"] for tag in tags)
        answer = await shop.api.get(f"{ORDERS}?tag_ids={ids}", status=200)
        return len(answer.data), answer.json["summary"]["filteredOrders"]

    assert (await found(gone), await found(gone, stays)) == ((1, 1), (2, 2))
    await shop.api.delete(f"/v1/tags/{gone['id']}", status=200)
    assert (await found(gone), await found(gone, stays)) == ((0, 0), (2, 2))
    assert [tag["name"] for tag in (await shop.show(both))["tags"]] == ["stays"]


async def test_a_stores_dates_are_its_days(open_shop: Open) -> None:
    """With one store named, a date means what today means: its zone, from its cut-off on."""
    shop = await open_shop(time_zone="Pacific/Kiritimati")
    zone, cutoff = "America/Los_Angeles", timedelta(hours=4)
    store = (await shop.store(time_zone=zone, day_cutoff="04:00"))["id"]
    day = (now() - timedelta(days=40)).date()
    begins = start_of_day(day, zone, cutoff)
    ends = start_of_day(day + timedelta(days=1), zone, cutoff)
    moment = timedelta(milliseconds=1)
    for price, at in ((1, begins - moment), (10, begins), (100, ends - moment), (1000, ends)):
        await shop.sell(fee(price), occurred_at=iso(at), store_id=store)

    async def prices(**query: Any) -> list[float]:
        asked = "&".join(f"{name}={value}" for name, value in query.items())
        found = (await shop.api.get(f"{ORDERS}?{asked}", status=200)).data
        return [order["totalAmount"] for order in found]

    assert await prices(store_id=store, start_date=day, end_date=day) == [100, 10]
    assert await prices(store_id=store, start_date=day) == [1000, 100, 10]
    assert await prices(store_id=store, end_date=day) == [100, 10, 1]
    theirs = start_of_day(day, "Pacific/Kiritimati")
    of_business = [
        price
        for price, at in ((1000, ends), (100, ends - moment), (10, begins), (1, begins - moment))
        if theirs <= at < theirs + timedelta(days=1)
    ]
    assert await prices(start_date=day, end_date=day) == of_business


async def test_moves_name_who_made_them(shop: Shop) -> None:
    """Sold by one, called off by another: each move of stock says by whom."""
    product = await shop.product(stock=5)
    order = await shop.sell(line(product, 2))
    till = await shop.business.client("orders:write", name="Second till")
    await till.patch(f"{ORDERS}/{order['id']}", {"status": "cancelled"}, status=200)
    path = f"/v1/inventory/moves?variant_id={variant_of(product)}"
    moves = {move["kind"]: move for move in (await shop.api.get(path, status=200)).data}
    sale, restore = moves["sale"]["actor"], moves["restore"]["actor"]
    assert sale["type"] == restore["type"] == "key"
    assert sale["id"] == order["recordedBy"]["id"] != restore["id"]
    assert restore["name"] == "Second till"


async def test_a_deleted_order_is_told_of_by_its_key(shop: Shop) -> None:
    """Long after, its key finds that it is gone, and makes no other."""
    answer = await shop.ask(key="till-7")
    await shop.delete(answer.data)
    await shop.sql.execute("DELETE FROM idempotency_keys WHERE book_id = $1", shop.book)
    again = await shop.ask(key="till-7")
    assert (again.status, again.error) == (404, "not_found")
    assert "deleted" in again.json["message"]


async def test_what_was_sent_once_is_not_sent_again(open_shop: Open) -> None:
    """Also after the order was called off: the ticket is what is in the way."""
    shop = await open_shop(business_type="restaurant")
    order = await shop.sell()
    assert order["kitchenTicketId"] is not None
    await shop.to(order, "cancelled")
    await shop.api.post(f"{ORDERS}/{order['id']}/send-to-kitchen", status=409)
