"""One account for each target, one call for each account."""

import asyncio
from datetime import timedelta
from decimal import Decimal

import pytest

from tests.payins.collecting import Collecting
from tillhouse.kit.clock import now
from tillhouse.payins.accounts import LEASE, open_account
from tillhouse.payins.connections import Collects, NoProvider, choose_provider
from tillhouse.payins.store.accounts import find_open


async def statuses(till: Collecting) -> list[str]:
    """Those of all accounts, the first opened first."""
    query = "SELECT status FROM virtual_accounts WHERE book_id = $1 ORDER BY created_at, id"
    return [row["status"] for row in await till.sql.fetch(query, till.book.id)]


async def test_fifty_at_once_get_the_same_account(till: Collecting) -> None:
    """One opens it, the others wait for it."""
    target = till.target()
    opened = await asyncio.gather(*(open_account(till.services, target) for _ in range(50)))
    assert {account.id for account in opened} == {opened[0].id}
    assert {account.account_number for account in opened} == {opened[0].account_number}
    assert await statuses(till) == ["open"]


async def test_an_account_lives_as_long_as_it_fits(till: Collecting) -> None:
    """Another amount, or the end of its time, takes a new one."""
    target = till.target(expires_at=now() + timedelta(hours=1))
    first = await open_account(till.services, target)
    assert await open_account(till.services, target) == first
    async with till.services.pool.reading() as db:
        assert await find_open(db, till.book.id, (target.type, target.id), now()) == first
    query = "UPDATE virtual_accounts SET expires_at = $2 WHERE book_id = $1"
    await till.sql.execute(query, till.book.id, now())
    async with till.services.pool.reading() as db:
        assert await find_open(db, till.book.id, (target.type, target.id), now()) is None
    second = await open_account(till.services, target)
    other = till.target(amount="900.50", id=target.id)
    third = await open_account(till.services, other)
    assert len({first.reference, second.reference, third.reference}) == 3
    assert third.amount == Decimal("900.50")
    assert await statuses(till) == ["closed", "closed", "open"]


async def test_what_was_left_in_the_middle_is_opened_with_the_same_reference(
    till: Collecting,
) -> None:
    """A process died between the row and the answer."""
    target = till.target()
    first = await open_account(till.services, target)
    await till.sql.execute(
        """
        UPDATE virtual_accounts SET status = 'opening', account_number = NULL, updated_at = $2
        WHERE book_id = $1
        """,
        till.book.id,
        now() - LEASE,
    )
    again = await asyncio.gather(*(open_account(till.services, target) for _ in range(10)))
    assert {(a.id, a.reference, a.account_number) for a in again} == {
        (first.id, first.reference, first.account_number)
    }


async def test_a_live_book_needs_a_provider(till: Collecting) -> None:
    """The refusal names the way to one."""
    query = "SELECT id FROM books WHERE business_id = $1 AND environment = 'live'"
    live = await till.sql.fetchval(query, till.origin.business_id)
    book = type(till.book)(live, "live")
    async with till.services.pool.reading() as db:
        with pytest.raises(NoProvider, match="PUT /v1/payment-providers"):
            await choose_provider(till.services, db, book, Collects(currency="NGN"))
    with pytest.raises(NoProvider):
        await open_account(till.services, till.target(book=book))
