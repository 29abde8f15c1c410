"""The step to payments as rows, on a book with orders of every kind in it."""

import shutil
from collections.abc import AsyncIterator, Sequence
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4

import asyncpg
import msgspec
import pytest

from tests.orders.posting.shop import position
from tillhouse.db.migrate import MIGRATIONS, migrate
from tillhouse.kit.clock import now
from tillhouse.kit.fault import Fault
from tillhouse.kit.ids import new_id, short_code
from tillhouse.ledger.proof import prove
from tillhouse.ledger.rules import Ledger, Source
from tillhouse.ledger.store.posting import record_postings, rows
from tillhouse.orders.posting.proof import ORDER_SOURCE
from tillhouse.orders.posting.rules import LedgerPosition, divided, postings

STEP = "payments_of_orders"
CUSTOMER = UUID(int=7)

# Orders by their positions, one after the other, and the rows that are made of them: kind, method,
# amount and change of payments; method and amount of refunds.
WALKS: list[tuple[list[LedgerPosition], list[tuple[str, str, int, int]], list[tuple[str, int]]]] = [
    ([position(100)], [], []),
    ([position(100, 120)], [("payment", "cash", 120, 20)], []),
    (
        [position(100, 40, CUSTOMER), position(100, 130, CUSTOMER), position(100, 110, CUSTOMER)],
        [("payment", "cash", 40, 0), ("payment", "cash", 90, 10), ("correction", "cash", -20, 0)],
        [],
    ),
    ([position(100, 150, CUSTOMER, method="pos")], [("payment", "pos", 150, 0)], []),
    ([position(100, 150, method="credit")], [("payment", "credit", 150, 0)], []),
    ([position(100, 150, status="scheduled")], [("payment", "cash", 150, 0)], []),
    (
        [position(100, 120), position(100, 120, status="deleted")],
        [("payment", "cash", 120, 20)],
        [],
    ),
    (
        [position(100, 100), position(100, 100, status="cancelled"),
         position(100, 30, status="cancelled")],
        [("payment", "cash", 100, 0)],
        [("cash", 70)],
    ),
]  # fmt: skip


@pytest.fixture
async def before(server_url: str, tmp_path: Path) -> AsyncIterator[asyncpg.Connection]:
    """A database as it was before that step."""
    name = f"tillhouse_before_{uuid4().hex}"
    admin = await asyncpg.connect(server_url)
    await admin.execute(f"CREATE DATABASE {name}")
    connection = await asyncpg.connect(urlunsplit(urlsplit(server_url)._replace(path=f"/{name}")))
    for path in sorted(MIGRATIONS.glob("*.sql")):
        if path.stem.endswith(f"_{STEP}"):
            break
        shutil.copy(path, tmp_path)
    await migrate(connection, folder=tmp_path)
    # Postings of today ask for a table and a function that are made by later steps.
    await connection.execute(_LATER)
    yield connection
    await connection.close()
    await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await admin.close()


async def _migrated(db: asyncpg.Connection) -> list[str]:
    """The steps from there to now."""
    await db.execute("DROP FUNCTION booked_at")
    return [step.name for step in await migrate(db)]


async def _sold(db: asyncpg.Connection, book: UUID, walk: Sequence[LedgerPosition]) -> UUID:
    """An order as it was written when its payments were told by transactions alone."""
    order, last = new_id(), walk[-1]
    before, used = None, 0
    for place in walk:
        after = divided(before, place)
        made = postings(before, after)
        paid = tuple(one for one in made.movements if one.type != "change")
        made = msgspec.structs.replace(made, movements=paid)
        # Credit was a tender like any other.
        after = LedgerPosition(
            total=after.total, paid=after.paid, change=after.change, method=after.method,
            customer_id=after.customer_id, status=after.status,
        )  # fmt: skip
        source = Source(type="order", id=order, customer_id=after.customer_id, happened_at=now())
        await record_postings(db, Ledger(book, "NGN", now()), [source], rows(order, made, used))
        before, used = after, used + made.used
    is_deleted = last.status == "deleted"
    await db.execute(
        _ORDER, book, order, short_code(), "completed" if is_deleted else last.status, last.total,
        last.paid, last.method, last.customer_id, used, now() if is_deleted else None,
    )  # fmt: skip
    return order


async def test_what_was_paid_is_rows_afterwards(before: asyncpg.Connection) -> None:
    """Each payment, correction and refund is a row, and the proof finds nothing to complain of."""
    book = new_id()
    # Foreign keys look away: what a business needs besides is no matter here.
    await before.execute("SET session_replication_role = replica")
    orders = [await _sold(before, book, walk) for walk, _, _ in WALKS]
    assert STEP in await _migrated(before)
    for order, (_, payments, refunds) in zip(orders, WALKS, strict=True):
        found = await before.fetch(
            "SELECT kind, method, amount, change_amount FROM payments "
            "WHERE book_id = $1 AND order_id = $2 ORDER BY id", book, order,
        )  # fmt: skip
        assert [tuple(row) for row in found] == payments
        given = await before.fetch(
            "SELECT method, amount FROM refunds WHERE book_id = $1 AND order_id = $2", book, order
        )
        assert [tuple(row) for row in given] == refunds
    assert await _faults(before, book) == []
    await before.execute("UPDATE payments SET amount = amount + 1 WHERE amount = 120")
    assert await _faults(before, book), "the proof looks at the rows"


async def test_what_is_due_is_counted_as_before(before: asyncpg.Connection) -> None:
    """Payment status and what remains are what they were."""
    book = new_id()
    await before.execute("SET session_replication_role = replica")
    for walk, _, _ in WALKS:
        await _sold(before, book, walk)
    asked = "SELECT id, payment_status, remaining_amount FROM orders ORDER BY id"
    were = [tuple(row) for row in await before.fetch(asked)]
    await _migrated(before)
    assert [tuple(row) for row in await before.fetch(asked)] == were
    assert {row[2] for row in were} == {Decimal(0), Decimal(100), Decimal(70)}


async def _faults(db: asyncpg.Connection, book: UUID) -> list[Fault]:
    return [fault async for fault in prove(db, book, [ORDER_SOURCE])]


_LATER = """
    CREATE TEMP TABLE ledger_tally_changes (book_id uuid, account_kind text, is_cost boolean,
        quarter_at timestamptz, store_id uuid, amount numeric);
    CREATE FUNCTION booked_at(uuid, moment timestamptz, timestamptz) RETURNS timestamptz
        LANGUAGE sql RETURN moment;
"""
_ORDER = """
    INSERT INTO orders (book_id, id, short_code, status, summary, currency, subtotal_amount,
        discount_amount, service_charge_amount, tax_amount, exclusive_tax_amount, total_amount,
        amount_paid, payment_method, customer_id, channel, recorded_by_id, recorded_by_name,
        entry_source, postings, deleted_at, occurred_at, created_at, updated_at)
    VALUES ($1, $2, $3, $4, '1 × Rice', 'NGN', $5, 0, 0, 0, 0, $5, $6, $7, $8, 'other', $1,
        'Ada Owner', 'api', $9, $10, now(), now(), now())
"""
