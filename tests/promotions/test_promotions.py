"""Promotions over HTTP: make, show, list, change, delete."""

from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from tests.api import Api
from tests.make import Business, Make
from tests.stock.stocked import Stock

PROMOTIONS = "/v1/promotions"
HAPPY = {"name": "Happy hour", "type": "percent", "value": 10}


@pytest.fixture
def api(business: Business) -> Api:
    """The owner in the test book."""
    return Stock(business).api


async def _make(api: Api, **fields: Any) -> dict[str, Any]:
    return (await api.post(PROMOTIONS, {**HAPPY, **fields}, status=201)).data


async def test_a_promotion_is_shown_as_it_was_made(business: Business, api: Api) -> None:
    """Every field, days in order and once, a date as the whole of that day in the business."""
    product = await Stock(business).product()
    promotion = await _make(
        api,
        scope="products",
        product_ids=[product["id"], product["id"]],
        minimum_subtotal=1000,
        maximum_discount=500.5,
        starts_at="2026-12-01",
        ends_at="2026-12-31",
        days=[5, 1, 5],
        from_time="22:30",
        to_time="02:00",
        limit_total=100,
        limit_per_customer=2,
        is_active=False,
    )
    assert promotion == {
        "id": promotion["id"],
        "name": "Happy hour",
        "type": "percent",
        "scope": "products",
        "value": 10,
        "productIds": [product["id"]],
        "categoryIds": [],
        "minimumSubtotal": 1000,
        "maximumDiscount": 500.5,
        "startsAt": promotion["startsAt"],
        "endsAt": promotion["endsAt"],
        "days": [1, 5],
        "fromTime": "22:30",
        "toTime": "02:00",
        "limitTotal": 100,
        "limitPerCustomer": 2,
        "used": 0,
        "isActive": False,
        "createdAt": promotion["createdAt"],
        "updatedAt": promotion["createdAt"],
    }
    assert promotion["startsAt"].endswith("00:00.000Z")
    assert promotion["endsAt"].endswith("59:59.999Z")
    assert (await api.get(f"{PROMOTIONS}/{promotion['id']}", status=200)).data == promotion


async def test_the_least_promotion_is_one_for_every_order(api: Api) -> None:
    """An absent limit bounds nothing; a free item needs no value."""
    promotion = (
        await api.post(PROMOTIONS, {"name": "One free", "type": "free_item"}, status=201)
    ).data
    assert (promotion["scope"], promotion["value"], promotion["isActive"]) == ("order", 0, True)
    bounds = (
        "minimumSubtotal", "maximumDiscount", "startsAt", "endsAt", "days", "fromTime", "toTime",
        "limitTotal", "limitPerCustomer",
    )  # fmt: skip
    assert all(promotion[name] is None for name in bounds)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"value": 100.5}, {"value"}),
        ({"value": 0}, {"value"}),
        ({"type": "fixed", "value": 0}, {"value"}),
        ({"type": "fixed", "value": 1.001}, {"value"}),
        ({"value": -1}, {"value"}),
        ({"minimum_subtotal": 0, "maximum_discount": 0.001},
         {"minimum_subtotal", "maximum_discount"}),
        ({"scope": "products"}, {"product_ids"}),
        ({"scope": "categories"}, {"category_ids"}),
        ({"product_ids": [str(uuid4())]}, {"product_ids", "product_ids[0]"}),
        ({"scope": "categories", "category_ids": [str(uuid4())]}, {"category_ids[0]"}),
        ({"starts_at": "2026-12-02", "ends_at": "2026-12-01"}, {"ends_at"}),
        ({"from_time": "10:00"}, {"to_time"}),
        ({"to_time": "10:00"}, {"from_time"}),
        ({"from_time": "10:00", "to_time": "10:00"}, {"to_time"}),
        ({"from_time": "24:00", "to_time": "9:00"}, {"from_time", "to_time"}),
        ({"days": [0, 8]}, {"days[0]", "days[1]"}),
        ({"days": []}, {"days"}),
        ({"limit_total": 0, "limit_per_customer": 1.5}, {"limit_total", "limit_per_customer"}),
        ({"name": "x", "ends_at": "soon", "value": 101, "scope": "products", "used": 3},
         {"name", "ends_at", "value", "product_ids", "used"}),
    ],
)  # fmt: skip
async def test_every_wrong_field_is_named(
    api: Api, fields: dict[str, Any], wrong: set[str]
) -> None:
    """Form and rules in one answer, when it is made and when it is changed."""
    promotion = await _make(api)
    answer = await api.post(PROMOTIONS, {**HAPPY, **fields}, status=422)
    assert answer.wrong_fields == wrong
    answer = await api.patch(f"{PROMOTIONS}/{promotion['id']}", fields, status=422)
    assert answer.wrong_fields == wrong
    assert (await api.get(f"{PROMOTIONS}/{promotion['id']}", status=200)).data == promotion


async def test_a_change_keeps_what_it_does_not_name(business: Business, api: Api) -> None:
    """Null clears; the whole is judged, not the part."""
    product = await Stock(business).product()
    promotion = await _make(
        api, scope="products", product_ids=[product["id"]], days=[1], limit_total=5
    )
    path = f"{PROMOTIONS}/{promotion['id']}"
    changed = (await api.patch(path, {"days": None, "value": 15}, status=200)).data
    expected = {**promotion, "days": None, "value": 15, "updatedAt": changed["updatedAt"]}
    assert changed == expected
    # Of what it names already, a product may have gone since.
    await api.delete(f"/v1/products/{product['id']}", status=200)
    assert (await api.patch(path, {"name": "Early birds"}, status=200)).data["name"] == (
        "Early birds"
    )
    answer = await api.patch(path, {"scope": "order"}, status=422)
    assert answer.wrong_fields == {"product_ids"}
    body = {"scope": "order", "product_ids": []}
    assert (await api.patch(path, body, status=200)).data["scope"] == "order"
    answer = await api.patch(path, {"type": "fixed", "value": 0.001}, status=422)
    assert answer.wrong_fields == {"value"}


async def test_a_limit_is_not_set_below_what_was_used(api: Api, sql: asyncpg.Connection) -> None:
    """A granted use stays granted."""
    promotion = await _make(api, limit_total=5)
    path = f"{PROMOTIONS}/{promotion['id']}"
    await sql.execute("UPDATE promotions SET used = 3 WHERE id = $1::text::uuid", promotion["id"])
    answer = await api.patch(path, {"limit_total": 2}, status=422)
    assert answer.wrong_fields == {"limit_total"}
    changed = (await api.patch(path, {"limit_total": 3}, status=200)).data
    assert (changed["limitTotal"], changed["used"]) == (3, 3)


async def test_the_list_is_by_name_and_leaves_out_what_is_gone(
    business: Business, api: Api, make: Make
) -> None:
    """Page by page, the active ones or the others, this book's alone."""
    made = {name: await _make(api, name=name) for name in ("beta", "Alpha", "gamma", "Delta")}
    await api.patch(f"{PROMOTIONS}/{made['beta']['id']}", {"is_active": False}, status=200)
    gone = (await api.delete(f"{PROMOTIONS}/{made['gamma']['id']}", status=200)).data
    assert gone == {"id": made["gamma"]["id"], "deletedAt": gone["deletedAt"]}
    await _make(Stock(business, "live").api, name="Live one")
    await _make(Stock(await make.business()).api, name="Theirs")

    async def names(query: str) -> list[str]:
        return [one["name"] for one in (await api.get(f"{PROMOTIONS}?{query}", status=200)).data]

    assert await names("") == ["Alpha", "beta", "Delta"]
    assert await names("limit=2&page=2") == ["Delta"]
    assert await names("is_active=true") == ["Alpha", "Delta"]
    assert await names("is_active=false") == ["beta"]
    meta = (await api.get(f"{PROMOTIONS}?limit=2", status=200)).json["meta"]
    assert (meta["total"], meta["hasMore"]) == (3, True)
    await api.delete(f"{PROMOTIONS}/{made['gamma']['id']}", status=404)
