"""Counts of what waits: each is that of its list, for those who may read it."""

from typing import Any, get_args
from uuid import UUID

import asyncpg
import pytest

from tests.api import Api
from tests.make import Business, Make
from tests.orders.shop import fee
from tillhouse.access.scopes import Role

PATH = "/v1/counts"
TEST = {"service-environment": "test"}
# The list that tells the same, for each count.
LISTS = {
    "orders": "/v1/orders",
    "kitchenTickets": "/v1/kitchen/tickets",
    "conversations": "/v1/conversations",
    "serviceRequests": "/v1/hotel/service-requests",
    "activeLinks": "/v1/payment-links",
    "productsOutOfStock": "/v1/products",
    "disputesDue": "/v1/disputes",
    "failingEndpoints": "/api/developer/webhook-endpoints",
}
NOTHING: dict[str, Any] = {
    "orders": {"pending": 0, "scheduled": 0, "unpaid": 0},
    "kitchenTickets": {"queued": 0, "preparing": 0, "ready": 0},
    "conversations": {"waiting": 0, "unread": 0},
    "serviceRequests": {"open": 0, "inProgress": 0},
    "activeLinks": 0,
    "productsOutOfStock": 0,
    "disputesDue": 0,
    "failingEndpoints": 0,
}


async def counts(by: Api) -> dict[str, Any]:
    """The counts of the test book."""
    return (await by.get(PATH, headers=TEST, status=200)).data


@pytest.mark.parametrize("role", get_args(Role))
async def test_each_reads_what_it_may_list(business: Business, make: Make, role: str) -> None:
    """A count is there exactly where its list may be read."""
    member = (await make.member(business, role)).owner
    shown = await counts(member)
    allowed = {
        name for name, path in LISTS.items() if (await member.get(path, headers=TEST)).status == 200
    }
    assert shown == {name: NOTHING[name] for name in allowed}


async def test_a_key_reads_by_its_scopes(business: Business) -> None:
    """Without the scope of a list its count is absent; keys read no portal."""
    key = await business.client("orders:read", "payment_links:read")
    assert set(await counts(key)) == {"orders", "kitchenTickets", "activeLinks"}
    await (await business.client("products:read")).get(PATH, status=403)
    live = await business.client("orders:read", environment="live")
    await live.get(PATH, headers=TEST, status=422)
    assert (await business.owner.get(f"{PATH}?x=1", headers=TEST)).status == 422


async def test_counts_follow_what_happens(business: Business, make: Make) -> None:
    """Orders, tickets, links and stock; of neither the live book nor another business."""
    owner = business.owner
    await business.made("/v1/orders", {"items": [fee(500)], "amount_paid": 500})
    body = {"items": [fee(500)], "amount_paid": 200, "send_to_kitchen": True}
    order = await business.made("/v1/orders", body)
    await business.made("/v1/orders", {"items": [fee(500)]})
    due = {"items": [fee(500)], "scheduled_for": "2100-01-01T10:00:00Z"}
    await business.made("/v1/orders", due)
    variant = {"name": "Jollof rice", "type": "simple", "base_price": 5, "tracks_stock": True}
    answer = await owner.post("/v1/products", variant, headers=TEST)
    link = {"target_type": "sale", "target_id": order["id"]}
    made = await owner.post("/v1/payment-links", link, headers=TEST)
    shown = await counts(owner)
    assert shown["orders"] == {"pending": 2, "scheduled": 1, "unpaid": 2}
    lists = {
        "status=pending": 2,
        "status=scheduled": 1,
        "status=pending,completed&payment_status=pending,partial": 2,
    }
    for query, total in lists.items():
        listed = await owner.get(f"/v1/orders?{query}", headers=TEST, status=200)
        assert listed.json["meta"]["total"] == total
    board = await owner.get("/v1/kitchen/tickets", headers=TEST, status=200)
    assert shown["kitchenTickets"]["queued"] == board.json["meta"]["total"]
    assert (answer.status, made.status) == (201, 201), (answer, made)
    assert (shown["activeLinks"], shown["productsOutOfStock"]) == (1, 1)
    out = "is_active=true&out_of_stock"
    for query, total in (
        (f"{out}=true", 1),
        (f"{out}=false", 0),
        ("search=jo&out_of_stock=true", 1),
    ):
        listed = await owner.get(f"/v1/products?{query}", headers=TEST, status=200)
        assert listed.json["meta"]["total"] == len(listed.data) == total
    live = (await owner.get(PATH, status=200)).data
    assert live == NOTHING
    assert await counts((await make.business()).owner) == NOTHING


async def test_what_is_over_counts_no_more(business: Business, sql: asyncpg.Connection) -> None:
    """A link that has expired, which no sweep has noticed yet, is no active one."""
    orders = [await business.made("/v1/orders", {"items": [fee(500)]}) for _ in range(3)]
    made = [
        await business.made("/v1/payment-links", {"target_type": "sale", "target_id": order["id"]})
        for order in orders
    ]
    await sql.execute(
        "UPDATE payment_links SET expires_at = now() WHERE id = $1", UUID(made[0]["id"])
    )
    assert (await counts(business.owner))["activeLinks"] == 2


async def test_endpoints_fail_from_the_third_failure_on(
    business: Business, sql: asyncpg.Connection
) -> None:
    """One that is switched off isn't waited for."""
    await business.step_up()
    made = [await business.endpoint() for _ in range(4)]
    for endpoint, (failures, status) in zip(
        made, [(2, "active"), (3, "active"), (4, "active"), (5, "disabled")], strict=True
    ):
        await sql.execute(
            "UPDATE webhook_endpoints SET failure_count = $2, status = $3 WHERE id = $1",
            UUID(endpoint["id"]), failures, status,
        )  # fmt: skip
    assert (await counts(business.owner))["failingEndpoints"] == 2
