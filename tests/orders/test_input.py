"""Wrong input to POST /v1/orders: 422 that names the field, and nothing is stored."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from tests.api import Response
from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, Body, Shop, chosen, fee, line
from tillhouse.kit.clock import iso, now

GIFT: Body = {"product_name": "Gift", "quantity": 1, "custom_price": 10}
MODIFIER: Body = {
    "modifier_group_id": "0198c2f0-0000-7000-8000-000000000001",
    "modifier_option_id": "0198c2f0-0000-7000-8000-000000000002",
    "name": "Ribbon",
}
NO_IDS = (5, "x", True, [], {}, "0198c2f0-0000-7000-8000-00000000000g")
NO_AMOUNTS = ("five", True, [], {}, -1, -0.01, 0.001, 1e15, 1e300, "1e2")
NO_TEXTS = (5, True, [], {}, "", "   ", "a\nb", "x" * 5_001)
NO_CHOICES = (5, True, [], "", "Cash", "CASH", "refund", "none")
NO_MOMENTS = (5, True, [], "", "soon", "2031-01-31", "2031-01-31T10:00:00", "2031-02-30T10:00:00Z")

WRONG: dict[str, tuple[Any, ...]] = {
    "items": (None, 5, "x", {}, [], [None], [5], [[]]),
    "payment_method": (*NO_CHOICES, "cheque", "wallet"),
    "amount_paid": NO_AMOUNTS,
    "discount_amount": NO_AMOUNTS,
    "service_charge_amount": NO_AMOUNTS,
    "promotion_id": NO_IDS,
    "customer_id": NO_IDS,
    "customer_name": NO_TEXTS,
    "store_id": NO_IDS,
    "store_name": NO_TEXTS,
    "channel": (*NO_CHOICES, "sms"),
    "tags": (5, "vip", {}, [5], [None], [[]], [""], ["   "]),
    "notes": (5, True, [], {}, "x" * 2_001, "é" * 2_001),
    "scheduled_for": (*NO_MOMENTS, "2020-01-31T10:00:00Z"),
    "occurred_at": (*NO_MOMENTS, "2131-01-31T10:00:00Z"),
    "service_mode": (*NO_CHOICES, "delivery"),
    "table_session_id": NO_IDS,
    "table_label": NO_TEXTS,
    "covers": (0, -1, 1.5, "4", True, [], 10**9),
    "send_to_kitchen": ("true", "yes", 1, 0, []),
    "served_by_user_id": NO_IDS,
    "hotel_reservation_id": NO_IDS,
    "hotel_room_id": NO_IDS,
    "academic_term_id": NO_IDS,
}
WRONG_IN_ITEM: dict[str, tuple[Any, ...]] = {
    "product_name": (None, *NO_TEXTS),
    "quantity": (None, 0, -1, -0.5, 0.0001, 1.0005, 1e9, 1e300, "one", True, [], {}),
    "product_id": NO_IDS,
    "variant_id": NO_IDS,
    "custom_price": NO_AMOUNTS,
    "line_type": (5, True, "", "service", "Fee"),
    "modifiers": (5, "x", {}, [5], [None]),
}
WRONG_IN_MODIFIER: dict[str, tuple[Any, ...]] = {
    "modifier_group_id": (None, *NO_IDS),
    "modifier_option_id": (None, *NO_IDS),
    "name": (None, *NO_TEXTS),
    "price_delta": ("five", True, [], 0.001, 1e15, -1e15),
}
# Numbers that only their text can say.
ABSURD = ("1e999999", "-1e999999", "1e-999999", "1" + "0" * 400, "0." + "0" * 400 + "1")


async def _refused(shop: Shop, body: Body, *, status: int = 422) -> Response:
    """The refusal, once it is sure that it left nothing behind."""
    before = await shop.footprint()
    answer = await shop.api.post(ORDERS, body, status=status)
    assert await shop.footprint() == before
    return answer


def _roots(answer: Response) -> set[str]:
    return {name.split("[")[0].split(".")[0] for name in answer.wrong_fields}


@pytest.mark.parametrize("field", WRONG)
async def test_a_wrong_field_is_named(shop: Shop, field: str) -> None:
    """It and no other, for each value that can't be meant."""
    for value in WRONG[field]:
        answer = await _refused(shop, {"items": [GIFT], field: value})
        assert answer.error == "validation_error"
        assert _roots(answer) == {field}, (value, answer)


@pytest.mark.parametrize("field", WRONG_IN_ITEM)
async def test_a_wrong_field_of_a_line_is_named(shop: Shop, field: str) -> None:
    """With the place of its line."""
    for value in WRONG_IN_ITEM[field]:
        answer = await _refused(shop, {"items": [GIFT, {**GIFT, field: value}]})
        assert answer.wrong_fields, answer
        expected = f"items[1].{field}"
        assert {name[: len(expected)] for name in answer.wrong_fields} == {expected}, answer


@pytest.mark.parametrize("field", WRONG_IN_MODIFIER)
async def test_a_wrong_field_of_a_modifier_is_named(shop: Shop, field: str) -> None:
    """With both places."""
    for value in WRONG_IN_MODIFIER[field]:
        modifiers = [MODIFIER, {**MODIFIER, field: value}]
        answer = await _refused(shop, {"items": [{**GIFT, "modifiers": modifiers}]})
        assert answer.wrong_fields == {f"items[0].modifiers[1].{field}"}, (value, answer)


async def test_a_wrong_type_is_told_in_words(shop: Shop) -> None:
    """As somebody says it who sends JSON, also where there may be one of several."""
    answer = await _refused(shop, {"items": [GIFT], "notes": 5, "covers": "two"})
    assert {(one["field"], one["message"]) for one in answer.json["details"]} == {
        ("notes", "must be a string or null, not a whole number"),
        ("covers", "must be a whole number or null, not a string"),
    }


@pytest.mark.parametrize("text", ABSURD)
@pytest.mark.parametrize(
    "field",
    ["amount_paid", "discount_amount", "service_charge_amount", "covers", "items[0].quantity",
     "items[0].custom_price", "items[0].modifiers[0].price_delta"],
)  # fmt: skip
async def test_absurd_numbers_are_named(shop: Shop, field: str, text: str) -> None:
    """However many digits they have."""
    body: Body = {"items": [{**GIFT, "modifiers": [{**MODIFIER}]}]}
    place, name = {
        1: body, 2: body["items"][0], 3: body["items"][0]["modifiers"][0],
    }[len(field.split("."))], field.split(".")[-1]  # fmt: skip
    place[name] = "@"
    raw = json.dumps(body).replace('"@"', text).encode()
    before = await shop.footprint()
    answer = await shop.api.post(ORDERS, raw=raw, status=422)
    assert answer.wrong_fields == {field}
    assert await shop.footprint() == before


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b'"x"', b'{"items": [NaN]}', b'{"items": Infinity}', b"\xff\xfe",
     b'{"items": [], "items": []}', b'{"items": ' + b"[" * 5000 + b"]" * 5000 + b"}",
     b'{"items": [{"product_name": "\\ud800", "quantity": 1, "custom_price": 1}]}',
     b'{"items": [{"product_name": "a\\u0000", "quantity": 1, "custom_price": 1}]}'],
)  # fmt: skip
async def test_what_is_no_order_at_all(shop: Shop, raw: bytes) -> None:
    """Malformed bodies are the caller's mistake, never a 500."""
    before = await shop.footprint()
    answer = await shop.api.post(ORDERS, raw=raw)
    assert answer.status in (400, 422), answer
    assert await shop.footprint() == before


async def test_required_fields_are_named_at_once(shop: Shop) -> None:
    """items; of a line its name and quantity; of a modifier its ids and name."""
    assert (await _refused(shop, {})).wrong_fields == {"items"}
    answer = await _refused(shop, {"items": [{"custom_price": 1, "modifiers": [{}]}]})
    at = "items[0]."
    assert answer.wrong_fields == {
        at + "product_name", at + "quantity", at + "modifiers[0].modifier_group_id",
        at + "modifiers[0].modifier_option_id", at + "modifiers[0].name",
    }  # fmt: skip


async def test_unknown_fields_are_named(shop: Shop) -> None:
    """A mistyped money field must not pass unseen, however deep it lies."""
    lines = [{**GIFT, "qty": 2, "modifiers": [{**MODIFIER, "price": 5}]}]
    answer = await _refused(shop, {"items": lines, "discount": 5, "status": "completed"})
    assert answer.wrong_fields == {
        "discount", "status", "items[0].qty", "items[0].modifiers[0].price",
    }  # fmt: skip


async def test_all_that_is_wrong_is_named_at_once(shop: Shop) -> None:
    """Form and rules together, of every line."""
    product = await shop.product()
    body = {
        "items": [
            {**GIFT, "quantity": 0},
            {**line(product), "custom_price": 0.001},
            {**GIFT, "product_id": MODIFIER["modifier_group_id"]},
            fee(1, custom_price=None),
        ],
        "customer_id": MODIFIER["modifier_group_id"],
        "amount_paid": -1,
        "service_charge_amount": 0.005,
        "notes": "x" * 2_001,
        "scheduled_for": iso(now() - timedelta(hours=1)),
        "channel": "fax",
    }
    answer = await _refused(shop, body)
    assert answer.wrong_fields == {
        "items[0].quantity", "items[1].custom_price", "items[2].product_id",
        "items[3].custom_price", "customer_id", "amount_paid", "service_charge_amount", "notes",
        "scheduled_for", "channel",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("currency", "fine", "too_fine"),
    [("JPY", 5, 5.5), ("USD", 5.25, 5.255), ("KWD", 5.125, 5.1255)],
)
async def test_amounts_are_no_finer_than_the_currency(
    open_shop: Open, currency: str, fine: float, too_fine: float
) -> None:
    """Price, discount, payment, charge and delta, for currencies of 0, 2 and 3 decimals."""
    shop = await open_shop(currency=currency)

    def body(amount: float) -> Body:
        item = {**GIFT, "custom_price": amount, "modifiers": [{**MODIFIER, "price_delta": amount}]}
        amounts = dict.fromkeys(("amount_paid", "discount_amount", "service_charge_amount"), amount)
        return {"items": [item], **amounts}

    answer = await _refused(shop, body(too_fine))
    assert answer.wrong_fields == {
        "items[0].custom_price", "items[0].modifiers[0].price_delta", "amount_paid",
        "discount_amount", "service_charge_amount",
    }  # fmt: skip
    made = (await shop.api.post(ORDERS, body(fine), status=201)).data
    assert made["totalAmount"] == 2 * fine


async def test_bounds_are_taken(shop: Shop) -> None:
    """500 lines and 2,000 characters pass, one more does not; characters, not bytes."""
    made = await shop.sell(*[fee(1)] * 500, notes="🥘" * 2_000)
    assert len(made["items"]) == 500
    assert made["notes"] == "🥘" * 2_000
    answer = await _refused(shop, {"items": [fee(1)] * 501})
    assert answer.wrong_fields == {"items"}
    long = await shop.ask(customer_name="x" * 121)
    assert long.status == 201 or long.wrong_fields == {"customer_name"}


async def test_sums_stay_within_bounds(shop: Shop) -> None:
    """Each amount may pass where their sum or product is more than any book holds: no 500."""
    most = 10**15 - 1
    modifier = {**MODIFIER, "price_delta": most}
    taxed = await shop.product(most, tax_rate=100)
    loose = await shop.product(0, stock=1, stock_policy="allow")
    crate = await shop.bundle((loose, 10**9 - 1))
    later = iso(now() + timedelta(days=1))
    bodies: list[Body] = [
        {"items": [fee(most, quantity=2)]},
        {"items": [fee(most, quantity=10**9 - 1)]},
        {"items": [fee(most), fee(most)]},
        {"items": [fee(most)], "service_charge_amount": most},
        {"items": [{**GIFT, "custom_price": most, "modifiers": [modifier]}]},
        {"items": [line(taxed)]},
        {"items": [line(crate, 10**9 - 1)]},
        {"items": [line(crate, 10**9 - 1)], "scheduled_for": later},
    ]
    for body in bodies:
        before = await shop.footprint()
        answer = await shop.api.post(ORDERS, body)
        assert answer.status in (400, 422), (body, answer)
        if answer.status == 400:
            assert answer.error == "order_not_recorded"
        assert await shop.footprint() == before
    assert (await shop.sell(fee(most), amount_paid=most))["status"] == "completed"


async def test_ids_of_others_are_unknown(open_shop: Open) -> None:
    """Of the other book, of another business, of nothing, of what was deleted: 422 by name."""
    shop, stranger = await open_shop(), await open_shop()
    live = await shop.other_book()
    for theirs in (stranger, live):
        for field, value in (await _ids(theirs)).items():
            answer = await _refused(shop, {"items": [GIFT], field: value})
            assert answer.wrong_fields == {field}
        product = await theirs.product()
        answer = await _refused(shop, {"items": [line(product)]})
        assert answer.wrong_fields == {"items[0].product_id"}
    own = await _ids(shop)
    paths = {"customer_id": "customers", "store_id": "stores", "academic_term_id": "academic-terms"}
    for field, path in paths.items():
        await shop.api.delete(f"/v1/{path}/{own[field]}", status=200)
        answer = await _refused(shop, {"items": [GIFT], field: own[field]})
        assert answer.wrong_fields == {field}
    nothing = MODIFIER["modifier_group_id"]
    for field in (*own, "served_by_user_id", "hotel_reservation_id", "hotel_room_id"):
        answer = await _refused(shop, {"items": [GIFT], field: nothing})
        assert answer.wrong_fields == {field}
    answer = await _refused(shop, {"items": [GIFT], "served_by_user_id": stranger.business.user_id})
    assert answer.wrong_fields == {"served_by_user_id"}


async def _ids(shop: Shop) -> Mapping[str, str]:
    return {
        "customer_id": (await shop.customer())["id"],
        "store_id": (await shop.store())["id"],
        "academic_term_id": (await shop.term())["id"],
        "table_session_id": (await shop.session())["id"],
        "promotion_id": (await shop.promotion())["id"],
    }


async def test_lines_know_their_products(shop: Shop) -> None:
    """Variants of another product, or none where several are; fees with a product; no price."""
    two = await shop.product(variants=[{"name": "Small"}, {"name": "Large"}])
    other = await shop.product()
    gone = await shop.product()
    await shop.api.delete(f"/v1/products/{gone['id']}", status=200)
    foreign = other["variants"][0]["id"]
    wrong: list[tuple[Body, set[str]]] = [
        (line(two), {"items[0].variant_id"}),
        (line(two, variant_id=foreign), {"items[0].variant_id"}),
        ({**GIFT, "variant_id": foreign}, {"items[0].variant_id"}),
        (line(gone), {"items[0].product_id"}),
        (fee(10, product_id=other["id"]), {"items[0].product_id"}),
        ({"product_name": "Fee", "quantity": 1, "line_type": "fee"}, {"items[0].custom_price"}),
    ]
    for item, named in wrong:
        assert (await _refused(shop, {"items": [item]})).wrong_fields == named
    bare = await _refused(shop, {"items": [{"product_name": "Rice", "quantity": 1}]})
    assert bare.wrong_fields <= {"items[0].product_id", "items[0].custom_price"}


async def test_the_catalog_knows_the_names(shop: Shop) -> None:
    """Lines of a product and their modifiers go without; all others are asked for one."""
    group = await shop.group(50)
    product = await shop.product(name="Jollof rice", modifier_group_ids=[group["id"]])
    option = {name: chosen(group)[name] for name in ("modifier_group_id", "modifier_option_id")}
    for nameless in ({}, {"product_name": None}):
        item = {"product_id": product["id"], "quantity": 1, "modifiers": [option], **nameless}
        [shown] = (await shop.sell(item))["items"]
        assert shown["productName"] == "Jollof rice"
        assert [one["name"] for one in shown["modifiers"]] == [group["options"][0]["name"]]
    bare: Body = {"quantity": 1, "custom_price": 5, "modifiers": [option, MODIFIER]}
    for nameless in ({}, {"product_name": None}):
        for kind in ("product", "fee"):
            answer = await _refused(
                shop, {"items": [GIFT, {**bare, **nameless, "line_type": kind}]}
            )
            named = {"items[1].product_name", "items[1].modifiers[0].name"}
            assert answer.wrong_fields == named


async def test_options_know_their_groups(shop: Shop) -> None:
    """Options of another group, groups of another product, options of nobody."""
    mine, other = await shop.group(10, 20), await shop.group(30)
    product = await shop.product(modifier_group_ids=[mine["id"]])
    mixed = {**chosen(mine), "modifier_option_id": other["options"][0]["id"]}
    wrong = [
        (chosen(other), "items[0].modifiers[0].modifier_group_id"),
        (mixed, "items[0].modifiers[0].modifier_option_id"),
        ({**chosen(mine), "modifier_option_id": MODIFIER["modifier_option_id"]},
         "items[0].modifiers[0].modifier_option_id"),
    ]  # fmt: skip
    for modifier, named in wrong:
        answer = await _refused(shop, {"items": [line(product, modifiers=[modifier])]})
        assert answer.wrong_fields == {named}


async def test_groups_want_enough_and_not_too_much(shop: Shop) -> None:
    """At least min_choices and at most max_choices of each group, also when none was sent."""
    group = await shop.group(0, 0, 0, name="Sides", min_choices=1, max_choices=2)
    product = await shop.product(modifier_group_ids=[group["id"]])
    for count, is_right in ((0, False), (1, True), (2, True), (3, False)):
        modifiers = [chosen(group, place) for place in range(count)]
        if is_right:
            await shop.sell(line(product, modifiers=modifiers))
            continue
        answer = await _refused(shop, {"items": [line(product, modifiers=modifiers)]})
        assert answer.wrong_fields == {"items[0].modifiers"}
        assert "Sides" in answer.json["details"][0]["message"]


async def test_a_sale_is_past_or_planned(shop: Shop) -> None:
    """scheduled_for lies ahead, occurred_at behind."""
    moment = now()
    for at in (moment - timedelta(days=1), moment - timedelta(seconds=1)):
        answer = await _refused(shop, {"items": [GIFT], "scheduled_for": iso(at)})
        assert answer.wrong_fields == {"scheduled_for"}
    later = iso(moment + timedelta(days=1))
    answer = await _refused(shop, {"items": [GIFT], "occurred_at": later})
    assert answer.wrong_fields == {"occurred_at"}


async def test_a_live_order_needs_a_provider_for_automated_payment(open_shop: Open) -> None:
    """Without one, cloove_pay is refused by a rule of the business."""
    live = await open_shop(environment="live")
    answer = await _refused(live, {"items": [GIFT], "payment_method": "cloove_pay"}, status=400)
    assert answer.error == "order_not_recorded"
