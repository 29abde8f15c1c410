"""Debts as programs read them."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from tests.api import Api
from tests.make import Make
from tests.orders.posting.shop import Order, Shop, position

DEBTS = "/v1/debts"


async def ids(api: Api, query: str = "") -> list[str]:
    """The orders of the debts that fit, in the list's order; the total must tell as many."""
    answer = await api.get(f"{DEBTS}?limit=100{query}", status=200)
    assert answer.json["meta"]["total"] == len(answer.data)
    return [debt["orderId"] for debt in answer.data]


def named(*orders: Order) -> list[str]:
    """The ids of orders as an answer spells them."""
    return [str(order.id) for order in orders]


async def test_a_debt_shows_who_owes_what_for_which_order(shop: Shop) -> None:
    """One shape in the list and alone."""
    customer = await shop.customer("Bola Ade")
    opened = datetime(2026, 1, 31, 12, tzinfo=UTC)
    order = await shop.sell(position("1000.50", 400, customer), opened)
    api = await shop.reader()
    [shown] = (await api.get(DEBTS, status=200)).data
    debt_id, updated = shown.pop("id"), shown.pop("updatedAt")
    assert shown == {
        "orderId": str(order.id),
        "orderShortCode": order.code,
        "customer": {"id": str(customer), "name": "Bola Ade"},
        "status": "active",
        "balance": 600.5,
        "currency": "NGN",
        "openedAt": "2026-01-31T12:00:00.000Z",
        "closedAt": None,
    }
    assert (await api.get(f"{DEBTS}/{debt_id}", status=200)).data == {
        "id": debt_id,
        "updatedAt": updated,
        **shown,
    }
    await shop.change(order, status="cancelled")
    closed = (await api.get(f"{DEBTS}/{debt_id}", status=200)).data
    assert (closed["status"], closed["balance"]) == ("voided", 0)
    assert closed["closedAt"] == closed["updatedAt"] >= updated


async def test_filters_and_totals(shop: Shop) -> None:
    """Each filter alone and all together, also after debts have changed their status."""
    ann, ben = await shop.customer("Ann"), await shop.customer("Ben")
    first = await shop.sell(position(1000, 400, ann))
    second = await shop.sell(position(1000, 0, ann))
    third = await shop.sell(position(1000, 0, ben))
    await shop.sell(position(1000, 0))
    await shop.change(second, paid=Decimal(1000))
    await shop.change(third, paid=Decimal(10))
    api = await shop.reader()
    assert await ids(api) == named(third, second, first)
    assert await ids(api, "&status=active") == named(third, first)
    assert await ids(api, "&status=paid") == named(second)
    assert await ids(api, "&status=voided") == []
    assert await ids(api, f"&customer_id={ann}") == named(second, first)
    assert await ids(api, f"&customer_id={ann}&status=active") == named(first)
    assert await ids(api, f"&order_id={third.id}") == named(third)
    assert await ids(api, f"&order_id={third.id}&customer_id={ann}") == []


async def test_pages_meet_without_gap(shop: Shop) -> None:
    """Debts of one moment keep one order, whatever the page."""
    customer, moment = await shop.customer(), datetime(2026, 1, 31, tzinfo=UTC)
    for hour in (0, 0, 0, 1, 1):
        await shop.sell(position(1000, 0, customer), moment + timedelta(hours=hour))
    api = await shop.reader()
    whole = await ids(api)
    pages: list[str] = []
    for page in (1, 2, 3):
        answer = await api.get(f"{DEBTS}?limit=2&page={page}", status=200)
        pages += [debt["orderId"] for debt in answer.data]
        assert answer.json["meta"] == {
            "total": 5,
            "page": page,
            "perPage": 2,
            "totalPages": 3,
            "hasMore": page < 3,
        }
    assert pages == whole
    assert len(set(pages)) == 5


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("status=open", "status"),
        ("customer_id=1", "customer_id"),
        ("order_id=x", "order_id"),
        ("limit=101", "limit"),
        ("page=0", "page"),
        ("store_id=1", "store_id"),
    ],
)
async def test_wrong_filters_are_named(shop: Shop, query: str, field: str) -> None:
    """A filter that can't be meant is refused, never left out."""
    api = await shop.reader()
    assert (await api.get(f"{DEBTS}?{query}", status=422)).wrong_fields == {field}


async def test_debts_of_others_are_not_there(shop: Shop, make: Make) -> None:
    """Another business, and the other environment, read nothing."""
    order = await shop.sell(position(1000, 0, await shop.customer()))
    debt = (await shop.rows_of(order))["debts"][0]
    stranger = await (await make.business()).client("finance:read")
    live = await shop.business.client("finance:read", environment="live")
    for api in (stranger, live):
        assert await ids(api) == []
        assert await ids(api, f"&order_id={order.id}") == []
        await api.get(f"{DEBTS}/{debt['id']}", status=404)
