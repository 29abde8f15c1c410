"""One Idempotency-Key, one order: at once, later, a week later."""

import asyncio
from uuid import uuid4

from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, Shop, fee, line, variant_of

SWEEP = "DELETE FROM idempotency_keys WHERE book_id = $1 AND key = $2"


async def test_a_repeated_key_gives_the_first_order(shop: Shop) -> None:
    """200 instead of 201, the same bytes, marked as a replay; nothing happens again."""
    product = await shop.product(stock=5)
    key = str(uuid4())
    first = await shop.ask(line(product, 2), key=key, amount_paid=300)
    assert first.status == 201
    assert "idempotent-replayed" not in first.headers
    before = await shop.footprint()
    again = await shop.ask(line(product, 2), key=key, amount_paid=300)
    assert (again.status, again.body) == (200, first.body)
    assert again.headers["idempotent-replayed"] == "true"
    assert await shop.footprint() == before
    assert await shop.stock(variant_of(product)) == (3, 0)


async def test_a_week_later_the_key_still_holds(shop: Shop) -> None:
    """An offline till may send again when the kept answers are long gone."""
    product = await shop.product(stock=5)
    key = str(uuid4())
    first = await shop.ask(line(product, 2), key=key)
    for _ in range(2):
        # The answer is kept anew with its key, and nothing else happens.
        before = await shop.footprint()
        assert await shop.sql.execute(SWEEP, shop.book, key) == "DELETE 1"
        again = await shop.ask(line(product, 2), key=key)
        assert (again.status, again.data) == (200, first.data)
        assert again.headers["idempotent-replayed"] == "true"
        assert await shop.footprint() == before
    assert await shop.stock(variant_of(product)) == (3, 0)


async def test_a_week_later_fifty_at_once(shop: Shop) -> None:
    """All are replays of the one order."""
    key = str(uuid4())
    first = await shop.ask(key=key)
    before = await shop.footprint()
    await shop.sql.execute(SWEEP, shop.book, key)
    answers = await asyncio.gather(*[shop.ask(key=key) for _ in range(50)])
    assert {answer.status for answer in answers} == {200}
    assert {answer.data["id"] for answer in answers} == {first.data["id"]}
    assert await shop.footprint() == before


async def test_a_key_means_one_body(shop: Shop) -> None:
    """Another body, or another path, with it is a mistake: 422 idempotency_key_reused."""
    key = str(uuid4())
    first = await shop.ask(fee(500), key=key)
    before = await shop.footprint()
    for answer in (
        await shop.ask(fee(501), key=key),
        await shop.ask(fee(500), key=key, notes="x"),
        await shop.api.post(
            f"{ORDERS}/{first.data['id']}/send-to-kitchen", headers={"idempotency-key": key}
        ),
    ):
        assert (answer.status, answer.error) == (422, "idempotency_key_reused")
    assert await shop.footprint() == before


async def test_the_order_of_fields_is_no_difference(shop: Shop) -> None:
    """A body is what it means; a key is the same in quotes."""
    key = str(uuid4())
    sent = b'{"items": [{"product_name": "Gift", "quantity": 1, "custom_price": 5}]}'
    other = b'{"items":[{"custom_price":5,"quantity":1,"product_name":"Gift"}]}'
    first = await shop.api.post(ORDERS, raw=sent, headers={"idempotency-key": key}, status=201)
    quoted = {"idempotency-key": f'"{key}"'}
    again = await shop.api.post(ORDERS, raw=other, headers=quoted, status=200)
    assert again.data["id"] == first.data["id"]


async def test_a_refusal_uses_no_key_up(shop: Shop) -> None:
    """Once the goods are there the same request goes through."""
    product = await shop.product(stock=1)
    key = str(uuid4())
    for _ in range(2):
        assert (await shop.ask(line(product, 2), key=key)).error == "order_not_recorded"
    assert (await shop.ask(line(product, -1), key=key)).status == 422
    await shop.adjust(variant_of(product), 1)
    assert (await shop.ask(line(product, 2), key=key)).status == 201
    assert (await shop.ask(line(product, 2), key=key)).status == 200


async def test_without_a_key_each_request_is_an_order(shop: Shop) -> None:
    """Two sales of the same are two."""
    first, second = await shop.sell(), await shop.sell()
    assert first["id"] != second["id"]
    assert first["shortCode"] != second["shortCode"]


async def test_books_have_keys_of_their_own(open_shop: Open) -> None:
    """The same key in the other book or another business is another's."""
    shop, stranger = await open_shop(), await open_shop()
    key = str(uuid4())
    shops = (shop, stranger, await shop.other_book())
    answers = [await one.ask(key=key) for one in shops]
    assert [answer.status for answer in answers] == [201] * 3
    assert len({answer.data["id"] for answer in answers}) == 3
    for one in shops:
        await one.sql.execute(SWEEP, one.book, key)
    again = [await one.ask(key=key) for one in shops]
    assert [a.data["id"] for a in again] == [a.data["id"] for a in answers]


async def test_the_key_of_a_deleted_order_makes_no_other(shop: Shop) -> None:
    """A deleted order doesn't come back through a late retry."""
    key = str(uuid4())
    first = await shop.ask(key=key)
    await shop.delete(first.data)
    await shop.sql.execute(SWEEP, shop.book, key)
    before = await shop.footprint()
    assert (await shop.ask(key=key)).status != 201
    assert await shop.footprint() == before
