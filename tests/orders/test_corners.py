"""Corners that random walks led to, each kept as a test of its own."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.orders.background import fire_due
from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, Shop, fee, line, variant_of
from tillhouse.access.process import Services
from tillhouse.kit.clock import iso, now
from tillhouse.orders.worker import queue_scheduled

LONG_AGO = "2026-01-02T10:00:00Z"


def _in(minutes: int) -> str:
    return iso(now() + timedelta(minutes=minutes))


async def _accounts(shop: Shop, order: str) -> dict[str, float]:
    rows = await shop.sql.fetch(
        """
        SELECT kind, sum(amount) AS held FROM (
            SELECT debit_kind AS kind, amount FROM ledger_transfers
            WHERE book_id = $1 AND source_id = $2
            UNION ALL
            SELECT credit_kind, -amount FROM ledger_transfers
            WHERE book_id = $1 AND source_id = $2
        ) s GROUP BY kind HAVING sum(amount) <> 0
        """,
        shop.book,
        UUID(order),
    )
    return {row["kind"]: float(row["held"]) for row in rows}


async def _work(services: Services) -> None:
    await fire_due(services)


async def test_change_stays_handed_out(shop: Shop) -> None:
    """Cancelled or deleted: the price becomes the customer's credit, the change doesn't."""
    for end in ("cancelled", "deleted"):
        order = await shop.sell(fee(1000), amount_paid=1500, customer_name="Chidi Eze")
        if end == "cancelled":
            await shop.to(order, "cancelled")
        else:
            await shop.delete(order)
        assert await _accounts(shop, order["id"]) == {"cash": 1000, "customer_credit": -1000}


async def test_a_discount_beyond_what_a_promotion_leaves(shop: Shop) -> None:
    """Named as the wrong field; what is left can be taken off to the last cent."""
    product, promotion = await shop.product(1000), await shop.promotion()
    both = {"promotion_id": promotion["id"]}
    for extra in ([], [fee(500)]):
        answer = await shop.ask(line(product), *extra, **both, discount_amount=900.01)
        assert (answer.status, answer.wrong_fields) == (422, {"discount_amount"})
    free = await shop.sell(line(product), **both, discount_amount=900)
    assert (free["totalAmount"], free["discountAmount"]) == (0, 1000)


async def test_what_was_only_promised_is_always_released(open_shop: Open) -> None:
    """Also where cancelled goods stay gone: these never left the shelf."""
    shop = await open_shop()
    await shop.set_trade(restocks_cancelled=False)
    product = await shop.product(stock=5)
    order = await shop.sell(line(product, 5), scheduled_for=_in(600))
    assert await shop.stock(variant_of(product)) == (5, 5)
    ended = await shop.to(order, "cancelled")
    assert ended["cancellation"]["restocked"] is True
    assert await shop.stock(variant_of(product)) == (5, 0)
    again = await shop.to(order, "scheduled")
    assert await shop.stock(variant_of(product)) == (5, 5)
    await shop.confirm(again)
    await shop.to(order, "cancelled")
    assert await shop.stock(variant_of(product)) == (0, 0)


async def test_an_old_sale_is_taken_up_again(shop: Shop) -> None:
    """Its goods have left the shop, however little there is by now."""
    product = await shop.product(stock=1)
    order = await shop.sell(line(product, 3), occurred_at=LONG_AGO)
    await shop.to(order, "cancelled")
    assert await shop.stock(variant_of(product)) == (1, 0)
    await shop.to(order, "pending")
    assert await shop.stock(variant_of(product)) == (-2, 0)


async def test_what_is_taken_up_again_goes_to_the_kitchen(shop: Shop, services: Services) -> None:
    """A scheduled order that was cancelled meanwhile is cooked in its time."""
    for state in ("scheduled", "pending"):
        order = await shop.sell(scheduled_for=_in(10), send_to_kitchen=True)
        await shop.to(order, "cancelled")
        await _work(services)
        assert (await shop.show(order))["kitchenTicketStatus"] is None
        await shop.to(order, state)
        await _work(services)
        assert (await shop.show(order))["kitchenTicketStatus"] == "queued"


async def test_without_its_time_an_order_goes_to_the_kitchen_at_once(
    shop: Shop, services: Services
) -> None:
    """There is nothing left to wait for; one that was held back still waits to be sent."""
    order = await shop.sell(scheduled_for=_in(6000), send_to_kitchen=True)
    held = await shop.sell(scheduled_for=_in(6000), send_to_kitchen=False)
    for one in (order, held):
        await shop.patch(one, scheduled_for=None)
    await _work(services)
    assert (await shop.show(order))["kitchenTicketStatus"] == "queued"
    assert (await shop.show(held))["kitchenTicketStatus"] is None


async def test_what_changes_after_it_was_queued_is_not_cooked(
    shop: Shop, services: Services
) -> None:
    """Put off, cancelled or deleted, before a worker came to it."""
    put_off, cancelled, deleted = [
        await shop.sell(scheduled_for=_in(10), send_to_kitchen=True) for _ in range(3)
    ]
    await queue_scheduled(services.pool)
    await shop.patch(put_off, scheduled_for=_in(6000))
    await shop.to(cancelled, "cancelled")
    await shop.delete(deleted)
    await _work(services)
    for order in (put_off, cancelled):
        assert (await shop.show(order))["kitchenTicketStatus"] is None
    await shop.patch(put_off, scheduled_for=None)
    await _work(services)
    assert (await shop.show(put_off))["kitchenTicketStatus"] == "queued"


async def test_what_was_confirmed_before_its_time_is_still_cooked(
    shop: Shop, services: Services
) -> None:
    """Paid and completed, whether a worker comes to it at once or it was queued by then."""
    for is_queued in (False, True):
        order = await shop.sell(scheduled_for=_in(10), send_to_kitchen=True)
        if is_queued:
            await queue_scheduled(services.pool)
        assert (await shop.confirm(order))["status"] == "completed"
        await _work(services)
        assert (await shop.show(order))["kitchenTicketStatus"] == "queued"


async def test_a_wrong_line_hides_no_unknown_product(shop: Shop) -> None:
    """A kind of line that is none, of a product that is none: both are named."""
    body = {"items": [{**line_of_nothing(), "line_type": "gift"}]}
    answer = await shop.api.post(ORDERS, body, status=422)
    assert answer.wrong_fields == {"items[0].line_type", "items[0].product_id"}


def line_of_nothing() -> dict[str, Any]:
    """A line of a product that nobody has."""
    unknown = "0198c2f0-7b1e-7c3a-9dad-4f81b3461572"
    return {"product_name": "Nothing", "quantity": 1, "product_id": unknown}
