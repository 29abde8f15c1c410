"""Stock when many want it at once, through the API and through the statement itself."""

import asyncio
from decimal import Decimal
from uuid import UUID

import asyncpg
import pytest

from tests.make import Business
from tests.stock.stocked import COUNTS, TRANSFERS, Stock
from tillhouse.access.process import Services
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id
from tillhouse.stock.facts import MovedStock, NotedStockMove
from tillhouse.stock.store.moving import record_moves


@pytest.fixture
def stock(business: Business) -> Stock:
    """The stock of this test's business."""
    return Stock(business)


def _move(
    variant_id: str, on_hand: int, reserved: int = 0, *, allows: bool = False
) -> NotedStockMove:
    return NotedStockMove(
        id=new_id(),
        variant_id=UUID(variant_id),
        store_id=None,
        kind="sale",
        on_hand_change=Decimal(on_hand),
        reserved_change=Decimal(reserved),
        allows=allows,
    )


async def _record(
    services: Services, book_id: UUID, moves: list[NotedStockMove]
) -> list[MovedStock]:
    """As an order does: all of it, or rolled back."""
    db = services.pool.writer()
    try:
        moved = await record_moves(db, book_id, now(), moves)
        if all(one.is_moved for one in moved):
            await db.commit()
        return moved
    finally:
        await db.rollback()


async def test_the_last_units_go_once(stock: Stock, sql: asyncpg.Connection) -> None:
    """Of fifty who each want one of three, three get it; the crossing is told once."""
    variant = await stock.variant(3, low_stock_threshold=1)
    bodies = {"variant_id": variant, "kind": "waste", "quantity": 1}
    answers = await asyncio.gather(
        *(stock.api.post("/v1/inventory/adjustments", bodies) for _ in range(50))
    )
    assert sorted(answer.status for answer in answers) == [201] * 3 + [400] * 47
    assert await stock.on_hand(variant) == {None: 0}
    assert len(await stock.moves("kind=waste")) == 3
    told = [event["type"] for event in await stock.events(sql)]
    assert told == ["inventory.low_stock", "inventory.out_of_stock"]
    await stock.check_sums(sql)


async def test_transfers_against_each_other_neither_lose_nor_block(
    stock: Stock, sql: asyncpg.Connection
) -> None:
    """Two ways with the items in both orders at once: all succeed, and the sum stays."""
    shop = await stock.store()
    variants = [await stock.variant(100, name=name) for name in ("Rice", "Beans", "Yam")]
    for variant in variants:
        await stock.adjust(variant, 100, store_id=shop)
    items = [{"variant_id": variant, "quantity": 1} for variant in variants]
    there = {"to_store_id": shop, "items": items}
    back = {"from_store_id": shop, "items": items[::-1]}
    answers = await asyncio.gather(
        *(stock.api.post(TRANSFERS, body) for _ in range(20) for body in (there, back))
    )
    assert {answer.status for answer in answers} == {201}
    for variant in variants:
        assert await stock.on_hand(variant) == {None: 100, shop: 100}
    await stock.check_sums(sql)


async def test_a_count_amid_sales_is_true_when_it_is_noted(
    stock: Stock, sql: asyncpg.Connection
) -> None:
    """The difference is taken from what is there under the lock, so the sums agree."""
    variant = await stock.variant(1000)
    count = {"items": [{"variant_id": variant, "counted": 500}]}
    waste = {"variant_id": variant, "kind": "waste", "quantity": 1}
    answers = await asyncio.gather(
        *(
            stock.api.post(*request)
            for _ in range(15)
            for request in ((COUNTS, count), ("/v1/inventory/adjustments", waste))
        )
    )
    assert {answer.status for answer in answers} == {201}
    left = (await stock.on_hand(variant))[None]
    assert 500 - 15 <= left <= 500
    await stock.check_sums(sql)


async def test_a_place_is_opened_once(stock: Stock, sql: asyncpg.Connection) -> None:
    """Twenty first moves of one variant at once make one level."""
    variant = await stock.variant()
    await asyncio.gather(*(stock.adjust(variant, 1) for _ in range(20)))
    assert await stock.on_hand(variant) == {None: 20}
    await stock.check_sums(sql)


async def test_two_lines_of_one_variant_are_judged_together(
    stock: Stock, services: Services, sql: asyncpg.Connection
) -> None:
    """Three and three of five are too many; of a variant without a level there is none."""
    book_id = await stock.book_id(sql)
    variant, other = await stock.variant(5), await stock.variant()
    [moved] = await _record(services, book_id, [_move(variant, -3), _move(variant, -3)])
    assert (moved.is_moved, moved.on_hand, moved.on_hand_change) == (False, 5, -6)
    [moved] = await _record(services, book_id, [_move(other, -1)])
    assert (moved.is_moved, moved.on_hand, moved.reserved) == (False, 0, 0)
    [moved] = await _record(services, book_id, [_move(variant, -3), _move(variant, -2)])
    assert (moved.is_moved, moved.on_hand) == (True, 0)
    await stock.check_sums(sql)


async def test_what_is_reserved_is_not_for_others(
    stock: Stock, services: Services, sql: asyncpg.Connection
) -> None:
    """A reservation lowers what is available, its sale changes nothing of that."""
    book_id = await stock.book_id(sql)
    variant = await stock.variant(5)
    [moved] = await _record(services, book_id, [_move(variant, 0, 4)])
    assert (moved.is_moved, moved.available) == (True, 1)
    [moved] = await _record(services, book_id, [_move(variant, -2)])
    assert (moved.is_moved, moved.available) == (False, 1)
    [moved] = await _record(services, book_id, [_move(variant, -2, allows=True)])
    assert (moved.is_moved, moved.available) == (True, -1)
    # The promise is kept though there is less than nothing: it makes no more of it unavailable.
    [moved] = await _record(services, book_id, [_move(variant, -4, -4)])
    assert (moved.is_moved, moved.on_hand, moved.reserved) == (True, -1, 0)
    await stock.check_sums(sql)


async def test_fifty_statements_at_once_oversell_nothing(
    stock: Stock, services: Services, sql: asyncpg.Connection
) -> None:
    """Baskets of two variants in both orders: what was taken is what there was."""
    book_id = await stock.book_id(sql)
    rice, beans = await stock.variant(10), await stock.variant(7, name="Beans")
    baskets = [
        [_move(rice, -1), _move(beans, -1)] if n % 2 else [_move(beans, -1), _move(rice, -1)]
        for n in range(50)
    ]
    results = await asyncio.gather(*(_record(services, book_id, basket) for basket in baskets))
    sold = [moved for moved in results if all(one.is_moved for one in moved)]
    assert len(sold) == 7
    assert await stock.on_hand(rice) == {None: 3}
    assert await stock.on_hand(beans) == {None: 0}
    await stock.check_sums(sql)
