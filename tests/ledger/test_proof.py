"""The proof of any ledger: nothing in a sound book, and each row that is broken, by name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import LiteralString

import asyncpg
import pytest

from tests.ledger.books import CASH, EXPENSES, WALLET, Books
from tillhouse.kit.ids import new_id
from tillhouse.ledger.posting import post
from tillhouse.ledger.rules import Account, Owing, Postings, Transfer


@asynccontextmanager
async def tampering(sql: asyncpg.Connection) -> AsyncIterator[None]:
    """Do what no connection of the product may: triggers and foreign keys look away."""
    await sql.execute("SET session_replication_role = replica")
    try:
        yield
    finally:
        await sql.execute("SET session_replication_role = origin")


async def sound(books: Books) -> None:
    """A wallet that was filled, drawn, held, settled, released; one transfer reversed."""
    await books.top_up(1000)
    await books.reverse(await books.post(WALLET, EXPENSES, 100))
    await books.settle(await books.hold(300), 200)
    await books.release(await books.hold(300))
    await books.hold(50)


async def test_a_sound_book_has_no_faults(books: Books) -> None:
    """Nor has an empty one, however small the batches."""
    assert await books.faults() == []
    await sound(books)
    assert await books.faults() == []
    assert await books.faults(batch=1) == []


BREAKS: list[tuple[LiteralString, str]] = [
    ("UPDATE ledger_balances SET held = 60 WHERE book_id = $1", "keeps 60 held"),
    ("UPDATE ledger_balances SET debits = debits - 1 WHERE book_id = $1", "debits"),
    ("UPDATE ledger_balances SET credits = credits + 1 WHERE book_id = $1", "credits"),
    ("DELETE FROM ledger_holds WHERE book_id = $1 AND status = 'pending'", "its pending holds 0"),
    (
        "UPDATE ledger_holds SET status = 'released', ended_at = now() "
        "WHERE book_id = $1 AND status = 'pending'",
        "its pending holds 0",
    ),
    (
        "UPDATE ledger_holds SET amount = 199 WHERE book_id = $1 AND status = 'posted'",
        "has no transfer of its account within its amount",
    ),
    (
        "UPDATE ledger_holds SET account_kind = 'fees' WHERE book_id = $1 AND status = 'posted'",
        "has no transfer of its account within its amount",
    ),
    (
        "UPDATE ledger_transfers SET currency = 'USD' "
        "WHERE book_id = $1 AND kind = 'expense' AND debit_kind = 'cash'",
        "has an account of no or another currency",
    ),
    (
        "UPDATE ledger_transfers SET debit_kind = 'bank' "
        "WHERE book_id = $1 AND kind = 'expense' AND debit_kind = 'cash'",
        "has an account of no or another currency",
    ),
    (
        "UPDATE ledger_transfers SET amount = 99 WHERE book_id = $1 AND reverses_id IS NOT NULL",
        "is not the opposite of the one it reverses",
    ),
    (
        "UPDATE ledger_transfers t SET source_id = t.id WHERE book_id = $1 AND kind = 'reversal'",
        "isn't there: top_up",
    ),
    (
        "UPDATE ledger_transfers SET source_type = 'gift' WHERE book_id = $1 AND kind = 'reversal'",
        "an unknown type: gift",
    ),
    (
        "UPDATE ledger_holds SET source_type = 'gift' WHERE book_id = $1 AND status = 'pending'",
        "an unknown type: gift",
    ),
    ("UPDATE transactions SET source_type = 'gift' WHERE book_id = $1", "an unknown type: gift"),
]


@pytest.mark.parametrize(("statement", "said"), BREAKS)
async def test_a_broken_row_is_found(books: Books, statement: LiteralString, said: str) -> None:
    """One table changed by hand, and the proof says what is wrong with it."""
    await sound(books)
    async with tampering(books.sql):
        await books.sql.execute(statement, books.book)
    found = await books.faults(batch=2)
    assert any(said in fault.what for fault in found), found


async def test_a_reversal_of_a_reversal_is_found(books: Books) -> None:
    """A posting that is reversed twice over is neither there nor gone."""
    await books.top_up(1000)
    undone = await books.reverse(await books.post(WALLET, EXPENSES, 100))
    false = new_id()
    async with tampering(books.sql):
        await books.sql.execute(
            """
            INSERT INTO ledger_transfers SELECT book_id, $3, credit_kind, credit_owner, debit_kind,
                debit_owner, amount, currency, kind, source_type, source_id, sequence + 1, id,
                happened_at, created_at
            FROM ledger_transfers WHERE book_id = $1 AND id = $2
            """,
            books.book,
            undone,
            false,
        )
    said = {fault.what for fault in await books.faults() if fault.id == str(false)}
    assert said == {"is not the opposite of the one it reverses"}


async def test_a_debt_is_the_sources_too(books: Books) -> None:
    """A second source owes like an order, and its debt without it is found."""
    customer = await books.customer()
    receivable = Account("receivable", customer)
    source = books.source()
    owed = Postings(
        (Transfer(receivable, CASH, Decimal(5), "payment"),), owing=(Owing(customer, Decimal(5)),)
    )
    await books.run(post, source, owed)
    assert await books.faults() == []
    books.sources.remove(source.id)
    assert {fault.subject for fault in await books.faults()} == {"transfer", "debt"}
