"""The uses of a promotion, when many take them at once: the statement itself is the judge."""

import asyncio
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.make import Business
from tests.stock.stocked import Stock
from tillhouse.access.process import Services
from tillhouse.kit.ids import new_id
from tillhouse.promotions.store.uses import find_offer, give_back, take_use


class Uses:
    """The promotions of a book, as an order uses them."""

    def __init__(self, stock: Stock, services: Services, book_id: UUID) -> None:
        self.stock = stock
        self.services = services
        self.book_id = book_id

    async def promotion(self, **fields: Any) -> UUID:
        """A promotion's id."""
        body = {"name": "Happy hour", "type": "percent", "value": 10, **fields}
        answer = await self.stock.api.post("/v1/promotions", body, status=201)
        return UUID(answer.data["id"])

    async def take(
        self, promotion_id: UUID, customer_id: UUID | None = None, *, book_id: UUID | None = None
    ) -> bool:
        """Take one use in a transaction that commits, granted or not."""
        async with self.services.pool.transaction() as db:
            return await take_use(db, book_id or self.book_id, promotion_id, customer_id)

    async def give(self, promotion_id: UUID, customer_id: UUID | None = None) -> None:
        """Give one back."""
        async with self.services.pool.transaction() as db:
            await give_back(db, self.book_id, promotion_id, customer_id)

    async def used(self, promotion_id: UUID, customer_id: UUID | None = None) -> tuple[int, int]:
        """How often by all, and by this customer."""
        async with self.services.pool.reading() as db:
            offer = await find_offer(db, self.book_id, promotion_id, customer_id)
        assert offer is not None
        return offer.used, offer.used_by_customer


@pytest.fixture
async def uses(business: Business, services: Services, sql: asyncpg.Connection) -> Uses:
    """Of this test's business."""
    stock = Stock(business)
    return Uses(stock, services, await stock.book_id(sql))


@pytest.mark.parametrize("limit", [1, 7])
async def test_fifty_at_once_get_no_more_than_the_limit(uses: Uses, limit: int) -> None:
    """Exactly as many are granted as there are; the rest changed nothing."""
    promotion = await uses.promotion(limit_total=limit)
    granted = await asyncio.gather(*(uses.take(promotion) for _ in range(50)))
    assert sum(granted) == limit
    assert await uses.used(promotion) == (limit, 0)


async def test_a_customer_gets_no_more_than_each_may(uses: Uses) -> None:
    """Fifty at once of two customers with one use each: two uses, one of each."""
    promotion = await uses.promotion(limit_per_customer=1)
    ada, ben = new_id(), new_id()
    granted = await asyncio.gather(
        *(uses.take(promotion, customer) for _ in range(25) for customer in (ada, ben))
    )
    assert sum(granted) == 2
    assert await uses.used(promotion, ada) == (2, 1)
    assert await uses.used(promotion, ben) == (2, 1)
    assert not await uses.take(promotion)


async def test_both_limits_hold_together(uses: Uses) -> None:
    """A use that one of them refuses is not counted by the other."""
    promotion = await uses.promotion(limit_total=3, limit_per_customer=2)
    ada, ben = new_id(), new_id()
    assert [await uses.take(promotion, ada) for _ in range(3)] == [True, True, False]
    assert await uses.used(promotion, ada) == (2, 2)
    assert [await uses.take(promotion, ben) for _ in range(2)] == [True, False]
    assert await uses.used(promotion, ben) == (3, 1)


async def test_a_use_that_is_rolled_back_was_none(uses: Uses) -> None:
    """An order that fails after it took the last use leaves it to the next."""
    promotion = await uses.promotion(limit_total=1)
    db = uses.services.pool.writer()
    assert await take_use(db, uses.book_id, promotion, None)
    await db.rollback()
    assert await uses.take(promotion)


async def test_what_is_given_back_can_be_taken_again(uses: Uses) -> None:
    """By all and by the customer; never below nothing."""
    promotion = await uses.promotion(limit_total=1, limit_per_customer=1)
    ada = new_id()
    assert await uses.take(promotion, ada)
    assert not await uses.take(promotion, ada)
    await uses.give(promotion, ada)
    assert await uses.used(promotion, ada) == (0, 0)
    await uses.give(promotion, ada)
    assert await uses.used(promotion, ada) == (0, 0)
    assert await uses.take(promotion, ada)


async def test_what_is_not_there_is_not_granted(uses: Uses, sql: asyncpg.Connection) -> None:
    """Switched off, deleted, of another book, or unknown; a deleted one can be given back."""
    off = await uses.promotion(is_active=False)
    gone, live = await uses.promotion(), await Stock(uses.stock.business, "live").book_id(sql)
    assert not await uses.take(gone, book_id=live)
    assert await uses.take(gone)
    await uses.stock.api.delete(f"/v1/promotions/{gone}", status=200)
    for promotion in (off, gone, new_id()):
        assert not await uses.take(promotion)
    await uses.give(gone)
    assert await sql.fetchval("SELECT used FROM promotions WHERE id = $1", gone) == 0
