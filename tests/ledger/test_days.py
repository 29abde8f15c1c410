"""Days of entries that are summed up: each when it is over, and once."""

from datetime import date, timedelta

from tests.ledger.books import CASH, EXPENSES, Books
from tillhouse.ledger.store.sums import insert_days


async def summed_up(books: Books, before: date) -> int:
    """How many days before that one became sums."""
    async with books.services.pool.transaction() as db:
        return await insert_days(db, [books.book], before, 100)


async def test_a_day_is_summed_up_once_it_is_over(books: Books) -> None:
    """More may be posted on it until then, and would be in no sum."""
    await books.post(EXPENSES, CASH, 100)
    day = await books.sql.fetchval(
        """
        SELECT (made_at(id) AT TIME ZONE 'UTC')::date FROM ledger_transfers WHERE book_id = $1
        """,
        books.book,
    )
    assert day is not None
    assert await summed_up(books, day) == 0
    await books.post(EXPENSES, CASH, 50)
    kept = "SELECT sum(debits) FROM ledger_sums WHERE book_id = $1 AND period = 'day'"
    assert await books.sql.fetchval(kept, books.book) is None
    over = day + timedelta(days=1)
    assert await summed_up(books, over) == 1
    assert await books.sql.fetchval(kept, books.book) == 150
    assert await summed_up(books, over) == 0
