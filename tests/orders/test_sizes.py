"""Orders and pages have a size that one answer can bear."""

import pytest

from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, Body, Shop, chosen, line

pytestmark = pytest.mark.proof

MODIFIERS = 50
TICKETS = "/v1/kitchen/tickets"
MIB = 1024 * 1024


async def _heavy_line(shop: Shop) -> Body:
    """A line of about 27 KB, of which the request says 7."""
    group = await shop.group(options=[{"name": "€" * 120, "price_delta": 0}])
    product = await shop.product(modifier_group_ids=[group["id"]])
    modifiers = [chosen(group) | {"name": "x"} for _ in range(MODIFIERS)]
    return line(product, modifiers=modifiers)


async def test_an_order_and_a_page_have_a_size(open_shop: Open) -> None:
    """An order beyond 512 KiB, a line beyond 50 modifiers, a page beyond 8 MiB: 422."""
    shop = await open_shop()
    heavy = await _heavy_line(shop)
    count = await shop.total()
    too_many = heavy | {"modifiers": [*heavy["modifiers"], heavy["modifiers"][0]]}
    answer = await shop.ask(too_many)
    assert answer.wrong_fields == {"items[0].modifiers"}
    assert (await shop.ask(*[heavy] * 24)).wrong_fields == {"items"}
    assert await shop.total() == count
    for _ in range(20):
        await shop.sell(*[heavy] * 18)
    for path in (ORDERS + "?", ORDERS + "?channel=other"):
        assert (await shop.api.get(path + "&limit=50")).wrong_fields == {"limit"}
        answer = await shop.api.get(path + "&limit=16", status=200)
        assert len(answer.data) == 16
        assert len(answer.body) < 9 * MIB
        assert len((await shop.api.get(path + "&limit=16&page=2", status=200)).data) == 4


async def test_payments_and_refunds_have_a_size(open_shop: Open) -> None:
    """They count as lines do; an order without any is none the lighter."""
    shop = await open_shop()
    product = await shop.product()
    await shop.sell(line(product))
    for _ in range(4):
        order = await shop.sell(line(product), amount_paid=1, payment_method="cash")
        path = f"{ORDERS}/{order['id']}/refunds"
        await shop.api.post(path, {"amount": 1, "reason": "Late"}, status=201)
    for table, column in (("payments", "reference"), ("refunds", "reason")):
        for length, status in ((500_000, 200), (900_000, 422), (1, 200)):
            filled = f"UPDATE {table} SET {column} = repeat('€', {length}) WHERE book_id = $1"  # noqa: S608
            await shop.sql.execute(filled, shop.book)
            answer = await shop.api.get(f"{ORDERS}?limit=50", status=status)
            assert status == 422 or len(answer.data) == 5
            assert status == 200 or answer.wrong_fields == {"limit"}


async def test_a_page_of_tickets_has_a_size(open_shop: Open) -> None:
    """The board and the history, beyond 8 MiB: 422; in parts all of it is there, in its order."""
    shop = await open_shop()
    heavy = await _heavy_line(shop)
    made = [await shop.sell(*[heavy] * 18, send_to_kitchen=True) for _ in range(30)]
    for path, ids in (
        (TICKETS + "?", [order["id"] for order in made]),
        (TICKETS + "?all=true&", [order["id"] for order in reversed(made)]),
    ):
        refused = await shop.api.get(path + "limit=50", status=422)
        assert refused.wrong_fields == {"limit"}
        assert "ask for fewer" in refused.json["details"][0]["message"]
        pages = [
            await shop.api.get(f"{path}limit=15&page={number}", status=200) for number in (1, 2, 3)
        ]
        assert [ticket["orderId"] for page in pages for ticket in page.data] == ids
        assert all(len(page.body) < 9 * MIB for page in pages)


async def test_five_hundred_lines_fit(shop: Shop) -> None:
    """Of products as they are, each with a modifier."""
    group = await shop.group(5, name="Extras")
    product = await shop.product(
        name="A dish of rather many words", modifier_group_ids=[group["id"]]
    )
    order = await shop.sell(*[line(product, modifiers=[chosen(group)])] * 500)
    assert len(order["items"]) == 500
