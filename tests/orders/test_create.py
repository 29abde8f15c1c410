"""An order as it is recorded: its record, what it defaults to, what it rests on."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest

from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, Body, Shop, chosen, exact, fee, line, variant_of
from tillhouse.kit.clock import iso, now, parse_timestamp

# The Order and Order item tables of the contract.
FIELDS = {
    "id", "shortCode", "status", "paymentStatus", "summary", "items", "totalAmount",
    "subtotalAmount", "discountAmount", "serviceChargeAmount", "amountPaid", "remainingAmount",
    "currency", "paymentMethod", "customer", "store", "channel", "channelFulfilledAt",
    "isAutomated", "deposit", "scheduledFor", "scheduledConfirmedAt", "serviceMode",
    "tableSessionId", "tableLabel", "kitchenTicketId", "kitchenTicketStatus", "recordedBy",
    "servedBy", "tags", "notes", "receiptUrl", "cancellation", "occurredAt", "date", "createdAt",
    "entrySource", "recoverySessionId", "academicTerm",
}  # fmt: skip
ITEM_FIELDS = {
    "id", "productId", "variantId", "productName", "variantName", "quantity", "unitPrice",
    "originalUnitPrice", "discountAmount", "subtotalAmount", "taxAmount", "totalPrice", "imageUrl",
    "modifiers", "components",
}  # fmt: skip
CHANNELS = (
    "in_person", "whatsapp", "instagram", "tiktok", "telegram", "twitter", "storefront",
    "dashboard", "checkout", "voice", "other",
)  # fmt: skip
METHODS = ("cash", "transfer", "pos", "credit", "other")


async def test_an_order_of_a_fee_line(shop: Shop) -> None:
    """The smallest order there is: every field of the contract, nothing where nothing was said."""
    made = await shop.sell(fee(500))
    assert made.keys() >= FIELDS
    expected = {
        "status": "pending", "paymentStatus": "pending", "summary": "1 × Delivery",
        "totalAmount": 500, "subtotalAmount": 500, "discountAmount": 0, "serviceChargeAmount": 0,
        "taxAmount": 0, "adjustmentAmount": 0, "amountPaid": 0, "remainingAmount": 500,
        "currency": "USD", "paymentMethod": "cash", "customer": None, "store": None,
        "channel": "other", "channelFulfilledAt": None, "isAutomated": False, "deposit": None,
        "scheduledFor": None, "scheduledConfirmedAt": None, "serviceMode": None,
        "tableSessionId": None, "tableLabel": None, "kitchenTicketId": None,
        "kitchenTicketStatus": None, "servedBy": None, "tags": [], "notes": None,
        "receiptUrl": None, "cancellation": None, "entrySource": "api",
        "recoverySessionId": None, "academicTerm": None,
    }  # fmt: skip
    assert {name: made[name] for name in expected} == expected
    [item] = made["items"]
    assert item.keys() >= ITEM_FIELDS
    plain = {name: item[name] for name in ITEM_FIELDS - {"id"}}
    assert plain == {
        "productId": None, "variantId": None, "productName": "Delivery", "variantName": None,
        "quantity": 1, "unitPrice": 500, "originalUnitPrice": 500, "discountAmount": 0,
        "subtotalAmount": 500, "taxAmount": 0, "totalPrice": 500, "imageUrl": None,
        "modifiers": [], "components": [],
    }  # fmt: skip


async def test_an_order_reads_as_it_was_answered(open_shop: Open) -> None:
    """POST, GET one and GET the list show one and the same resource."""
    shop = await open_shop()
    product = await shop.product(1200, image_url="https://cdn.example.com/rice.jpg")
    made = await shop.sell(line(product, 2), fee(), customer_name="Bola Ade", tags=["vip"])
    assert await shop.show(made) == made
    assert (await shop.api.get(ORDERS, status=200)).data == [made]
    assert made["items"][0]["imageUrl"] == "https://cdn.example.com/rice.jpg"


async def test_an_answer_is_what_is_read_afterwards(open_shop: Open) -> None:
    """To the last digit, whatever an order has: the answer is told before anything is written."""
    shop = await open_shop(business_type="restaurant")
    customer, store = await shop.customer("Ngozi Obi"), await shop.store()
    tags = [(await shop.tag(name))["id"] for name in ("Zebra", "Apple")]
    group = await shop.group(50.5)
    dish = await shop.product(
        99.99, tax_rate=7.5, modifier_group_ids=[group["id"]], image_url="https://a.example/1.jpg"
    )
    box = await shop.bundle((await shop.product(stock=9), 1.5))
    promotion = await shop.promotion()
    kinds: list[tuple[list[Body], Body]] = [
        ([fee(10.10)], {}),
        ([line(dish, 2.5, modifiers=[chosen(group)]), line(box, 2)], {"amount_paid": 12}),
        ([line(dish)], {"customer_id": customer["id"], "store_id": store["id"], "tags": tags}),
        ([line(dish, 1e2)], {"academic_term_id": (await shop.term())["id"], "notes": "A\nB"}),
        ([line(dish)], {"table_session_id": (await shop.session())["id"], "covers": 3}),
        (
            [line(dish)],
            {"served_by_user_id": shop.business.user_id, "promotion_id": promotion["id"]},
        ),
        ([line(dish)], {"scheduled_for": iso(now() + timedelta(days=2)), "send_to_kitchen": True}),
        ([line(dish)], {"occurred_at": iso(now() - timedelta(days=2)), "amount_paid": 1e6}),
        ([line(dish)], {"discount_amount": 9.99, "service_charge_amount": 0.01}),
        ([line(dish)], {"customer_name": "Somebody New", "tags": ["brand new", tags[0]]}),
    ]
    for lines, fields in kinds:
        for key in (None, str(uuid4())):
            answer = await shop.ask(*lines, key=key, **fields)
            assert answer.status == 201, answer
            read = await shop.api.get(f"{ORDERS}/{answer.data['id']}", status=200)
            assert exact(answer) == exact(read), fields


async def test_times_are_those_of_the_sale(shop: Shop) -> None:
    """occurredAt and date are the sale's own, createdAt is when it was recorded; all to the ms."""
    before = now()
    made = await shop.sell()
    moments = [made[name] for name in ("createdAt", "occurredAt", "date")]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text) for text in moments)
    assert len(set(moments)) == 1
    assert before <= parse_timestamp(made["createdAt"]) <= now()
    earlier = now() - timedelta(days=40)
    imported = await shop.sell(occurred_at=earlier.isoformat())
    assert imported["occurredAt"] == imported["date"] == iso(earlier)
    assert parse_timestamp(imported["createdAt"]) >= before
    assert imported["entrySource"] == "import"


async def test_a_clock_that_is_ahead_sells_now(open_shop: Open) -> None:
    """Up to five minutes it is a sale like any other: its time, its stock, its kitchen."""
    shop = await open_shop(business_type="restaurant")
    product = await shop.product(stock=1)
    ahead = iso(now() + timedelta(minutes=4))
    refused = await shop.ask(line(product, 2), occurred_at=ahead)
    assert (refused.status, refused.error) == (400, "order_not_recorded")
    order = await shop.sell(line(product), occurred_at=ahead)
    assert order["occurredAt"] == order["createdAt"]
    assert order["entrySource"] == "api"
    assert order["kitchenTicketStatus"] == "queued"
    assert await shop.stock(variant_of(product)) == (0, 0)
    too_far = await shop.ask(line(product), occurred_at=iso(now() + timedelta(minutes=6)))
    assert too_far.wrong_fields == {"occurred_at"}


async def test_everything_that_was_said_is_shown(shop: Shop) -> None:
    """Customer, store, table, term, server, tags, notes, mode, charge, method, channel."""
    customer = await shop.customer("Ngozi Obi", phone_number="+2348030000001")
    store, term, session = await shop.store(), await shop.term(), await shop.session()
    fields = {
        "customer_id": customer["id"], "store_id": store["id"], "academic_term_id": term["id"],
        "table_session_id": session["id"], "served_by_user_id": shop.business.user_id,
        "notes": "No pepper\nplease", "service_mode": "dine_in", "service_charge_amount": 50,
        "covers": 4, "payment_method": "transfer", "channel": "whatsapp", "amount_paid": 100,
    }  # fmt: skip
    made = await shop.sell(fee(500), **fields)
    assert made["customer"] == {
        "id": customer["id"], "name": "Ngozi Obi", "phoneNumber": "+2348030000001",
        "whatsappNumber": None,
    }  # fmt: skip
    assert made["store"] == {"id": store["id"], "name": store["name"]}
    assert made["academicTerm"] == {"id": term["id"], "name": term["name"]}
    assert made["tableSessionId"] == session["id"]
    assert made["tableLabel"] == session["tableLabel"]
    assert made["servedBy"] == {"id": shop.business.user_id, "name": "Ada Owner"}
    assert made["notes"] == "No pepper\nplease"
    assert (made["serviceMode"], made["serviceChargeAmount"]) == ("dine_in", 50)
    assert (made["paymentMethod"], made["channel"]) == ("transfer", "whatsapp")
    assert (made["amountPaid"], made["remainingAmount"]) == (100, 450)
    assert made["covers"] == 4


async def test_who_recorded_it(shop: Shop) -> None:
    """A key by its name, on channel other; a person of the dashboard, on channel dashboard."""
    by_key = await shop.sell()
    assert by_key["recordedBy"]["name"] == "test key"
    owner = shop.business.owner
    test = {"service-environment": "test"}
    answer = await owner.post(ORDERS, {"items": [fee()]}, headers=test, status=201)
    assert answer.data["recordedBy"] == {"id": shop.business.user_id, "name": "Ada Owner"}
    assert (answer.data["channel"], answer.data["entrySource"]) == ("dashboard", "dashboard")


@pytest.mark.parametrize("channel", CHANNELS)
async def test_every_channel_is_taken(shop: Shop, channel: str) -> None:
    """As it was sent."""
    assert (await shop.sell(channel=channel))["channel"] == channel


@pytest.mark.parametrize("method", METHODS)
async def test_every_method_is_taken(shop: Shop, method: str) -> None:
    """As it was sent."""
    assert (await shop.sell(payment_method=method))["paymentMethod"] == method


@pytest.mark.parametrize(
    ("paid", "status", "state", "left"),
    [
        (None, "pending", "pending", 1000),
        (0, "pending", "pending", 1000),
        (0.01, "pending", "partial", 999.99),
        (999.99, "pending", "partial", 0.01),
        (1000, "completed", "paid", 0),
        (1500, "completed", "paid", 0),
    ],
)
async def test_payment_decides_the_status(
    shop: Shop, paid: float | None, status: str, state: str, left: float
) -> None:
    """An order paid in full is completed; an excess stays in amountPaid."""
    made = await shop.sell(fee(1000), amount_paid=paid)
    assert (made["status"], made["paymentStatus"]) == (status, state)
    assert (made["amountPaid"], made["remainingAmount"]) == (paid or 0, left)


async def test_an_order_of_nothing_is_paid(shop: Shop) -> None:
    """amountPaid >= totalAmount is asked first."""
    made = await shop.sell(fee(0))
    assert (made["status"], made["paymentStatus"], made["totalAmount"]) == ("completed", "paid", 0)


async def test_a_future_order_is_scheduled(shop: Shop) -> None:
    """However much of it is paid; its time comes back in UTC."""
    at = now() + timedelta(days=2)
    for paid in (0, 400, 1000):
        local = (at + timedelta(hours=1)).replace(tzinfo=None).isoformat(timespec="milliseconds")
        made = await shop.sell(fee(1000), amount_paid=paid, scheduled_for=local + "+01:00")
        assert made["status"] == "scheduled"
        assert made["scheduledFor"] == iso(at)
        assert made["scheduledConfirmedAt"] is None
        assert made["amountPaid"] == paid


async def test_a_customer_is_found_or_made_by_name(shop: Shop) -> None:
    """Only when no id is given; the same name is the same person."""
    first = await shop.sell(customer_name="Femi Kuti")
    again = await shop.sell(customer_name="Femi Kuti")
    assert first["customer"] == again["customer"]
    assert first["customer"]["name"] == "Femi Kuti"
    known = await shop.customer("Wole")
    both = await shop.sell(customer_id=known["id"], customer_name="Nobody Atall")
    assert both["customer"]["id"] == known["id"]
    found = (await shop.api.get("/v1/customers?search=nobody", status=200)).data
    assert found == []


async def test_a_store_is_found_by_name(shop: Shop) -> None:
    """store_name names a store of the book; one that isn't there is a wrong field."""
    store = await shop.store(name="Ikeja branch")
    made = await shop.sell(store_name="Ikeja branch")
    assert made["store"] == {"id": store["id"], "name": "Ikeja branch"}
    answer = await shop.ask(store_name="Nowhere branch")
    assert (answer.status, answer.wrong_fields) == (422, {"store_name"})


async def test_tags_by_id_slug_or_name(shop: Shop) -> None:
    """Unknown ones are made, known ones used, each once."""
    first, second = await shop.tag("Big party"), await shop.tag("Late")
    made = await shop.sell(tags=[first["id"], second["slug"], "Brand new", "Big party", "late"])
    tags = {tag["name"]: tag for tag in made["tags"]}
    assert tags.keys() == {"Big party", "Late", "Brand new"}
    assert len(made["tags"]) == 3
    assert tags["Big party"] == {"id": first["id"], "name": "Big party", "slug": "big-party"}
    assert tags["Brand new"]["slug"] == "brand-new"
    again = await shop.sell(tags=["Brand new"])
    assert again["tags"] == [tags["Brand new"]]


async def test_the_summary_is_a_few_words(shop: Shop) -> None:
    """The first lines and how many more there are; quantities without needless zeros."""
    rice, chicken = await shop.product(), await shop.product(name="Chicken")
    made = await shop.sell(line(rice, 2), line(chicken), fee())
    assert made["summary"] == "2 × Jollof rice, 1 × Chicken (+1 more)"
    assert (await shop.sell(line(rice, 2.50)))["summary"] == "2.5 × Jollof rice"


async def test_short_codes_are_easy_to_read_out(shop: Shop) -> None:
    """Eight characters without look-alikes, each its own."""
    codes = [(await shop.sell())["shortCode"] for _ in range(20)]
    assert len(set(codes)) == 20
    assert all(re.fullmatch("[2-9A-HJKMNP-Z]{8}", code) for code in codes)


async def test_the_table_is_the_sessions(shop: Shop) -> None:
    """table_label counts without a session only; a closed session takes no more orders."""
    session = await shop.session("Window 4")
    made = await shop.sell(table_session_id=session["id"], table_label="Elsewhere")
    assert made["tableLabel"] == "Window 4"
    assert (await shop.sell(table_label="Bar 2"))["tableLabel"] == "Bar 2"
    await shop.api.post(f"/v1/table-sessions/{session['id']}/close", {"force": True}, status=200)
    count = await shop.total()
    answer = await shop.ask(table_session_id=session["id"])
    assert (answer.status, answer.error) == (400, "order_not_recorded")
    assert await shop.total() == count


async def test_a_line_names_its_variant(shop: Shop) -> None:
    """One without variants has one that stands for it, and no variant name."""
    sizes = [{"name": "Small"}, {"name": "Large", "price": 2000}]
    product = await shop.product(1500, variants=sizes)
    large = variant_of(product, 1)
    [item] = (await shop.sell(line(product, variant_id=large)))["items"]
    assert (item["productId"], item["variantId"]) == (product["id"], large)
    assert (item["productName"], item["variantName"]) == ("Jollof rice", "Large")
    plain = await shop.product()
    [item] = (await shop.sell(line(plain)))["items"]
    assert (item["productId"], item["variantName"]) == (plain["id"], None)


async def test_a_bundle_shows_its_components(shop: Shop) -> None:
    """And takes them from the stock, not itself."""
    drink = await shop.product(stock=10, name="Soft drink")
    rice = await shop.product(name="Rice")
    box = await shop.bundle((drink, 2), (rice, 1))
    [item] = (await shop.sell(line(box, 3)))["items"]
    assert item["components"] == [
        {"productId": drink["id"], "variantId": variant_of(drink), "name": "Soft drink",
         "quantity": 2},
        {"productId": rice["id"], "variantId": variant_of(rice), "name": "Rice", "quantity": 1},
    ]  # fmt: skip
    assert (await shop.stock(variant_of(drink)))[0] == 4


@pytest.mark.parametrize("how", [{"is_active": False}, {"is_extra_only": True}])
async def test_what_is_not_for_sale_is_not_sold(shop: Shop, how: Body) -> None:
    """A rule of the business, not a wrong form: 400 order_not_recorded."""
    product = await shop.product(**how)
    answer = await shop.ask(line(product))
    assert (answer.status, answer.error) == (400, "order_not_recorded")
    assert "Jollof rice" in answer.json["message"]


async def test_short_stock_is_told(shop: Shop) -> None:
    """The refusal names the shortage, the quantity asked and the quantity there is; nothing is
    taken."""
    product = await shop.product(stock=3)
    other = await shop.product(stock=9, name="Plantain")
    count = await shop.total()
    answer = await shop.ask(line(other, 2), line(product, 4))
    assert (answer.status, answer.error) == (400, "order_not_recorded")
    message = answer.json["message"]
    assert "Jollof rice" in message
    assert "4" in message
    assert "3" in message
    assert "Plantain" not in message
    assert await shop.stock(variant_of(other)) == (9, 0)
    assert await shop.total() == count


async def test_stock_is_taken_at_once_or_reserved(shop: Shop) -> None:
    """A sale deducts; an order for later reserves, and others find less to buy."""
    product = await shop.product(stock=5)
    variant = variant_of(product)
    await shop.sell(line(product, 2))
    assert await shop.stock(variant) == (3, 0)
    later = iso(now() + timedelta(days=1))
    await shop.sell(line(product, 2), scheduled_for=later)
    assert await shop.stock(variant) == (3, 2)
    assert (await shop.ask(line(product, 2))).status == 400
    assert (await shop.ask(line(product, 2), scheduled_for=later)).status == 400
    await shop.sell(line(product, 1))
    assert await shop.stock(variant) == (2, 2)


async def test_stock_is_that_of_the_store(shop: Shop) -> None:
    """The stock of another store can't be sold here."""
    here, there = await shop.store(), await shop.store()
    product = await shop.product(stock=5, store=here["id"])
    variant = variant_of(product)
    await shop.sell(line(product, 2), store_id=here["id"])
    assert await shop.stock(variant, here["id"]) == (3, 0)
    answer = await shop.ask(line(product), store_id=there["id"])
    assert (answer.status, answer.error) == (400, "order_not_recorded")


async def test_stock_policies(open_shop: Open) -> None:
    """The variant's, else the business's; an import always passes, the goods have left."""
    shop = await open_shop()
    product = await shop.product(stock=1)
    loose = await shop.product(stock=1, stock_policy="allow")
    strict = await shop.product(stock=1, stock_policy="deny")
    assert (await shop.ask(line(product, 2))).status == 400
    await shop.sell(line(loose, 3))
    assert await shop.stock(variant_of(loose)) == (-2, 0)
    await shop.sell(line(strict, 3), occurred_at=iso(now() - timedelta(days=1)))
    assert await shop.stock(variant_of(strict)) == (-2, 0)
    await shop.set_trade(stock_policy="allow")
    await shop.sell(line(product, 2))
    assert (await shop.ask(line(strict))).status == 400
