"""The step to figures that stand, on a book whose changes are folded in part."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4

import asyncpg
import pytest

from tillhouse.db.migrate import MIGRATIONS, migrate
from tillhouse.kit.ids import new_id, short_code

STEP = "figures_that_stand"


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
    yield connection
    await connection.close()
    await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await admin.close()


async def _sell(db: asyncpg.Connection, book: UUID, status: str, refunded: int) -> None:
    await db.execute(_ORDER, book, new_id(), short_code(), status, refunded)


async def test_sums_are_those_of_the_rows_afterwards(before: asyncpg.Connection) -> None:
    """Of orders that were folded, and of those whose changes wait; scheduled ones are no sales."""
    business, book = new_id(), new_id()
    await before.execute(_BUSINESS, business, book)
    sold = [
        ("completed", 0), ("completed", 30), ("refunded", 104), ("scheduled", 0),
        ("cancelled", 0), ("pending", 0),
    ]  # fmt: skip
    for status, refunded in sold:
        await _sell(before, book, status, refunded)
    await before.execute(_FOLDED)
    for status, refunded in sold:
        await _sell(before, book, status, refunded)
    await before.execute(_TRANSFERS, book)
    assert STEP in [step.name for step in await migrate(before)]
    for table in ("sales_by_quarter_hour", "sales_by_hour"):
        row = await before.fetchrow(_KEPT.format(table=table))  # of names in this file
        assert row is not None
        # Four of six are sold, twice: 104 each, with 4 of tax, 3 of discount, 2 of service.
        assert tuple(row) == (832, 32, 24, 16), table
    assert await before.fetchval("SELECT sum(refunded_amount) FROM order_tally_changes") == 268
    sums = await before.fetch(_SUMS)
    assert [tuple(row) for row in sums] == [
        ("cash", False, 60), ("cash", True, -7), ("refunds", False, 40)
    ]  # fmt: skip


_BUSINESS = """
    WITH business AS (
        INSERT INTO businesses (id, name, type, currency, time_zone, country, master_version,
            wrapped_data_key, created_at, updated_at)
        VALUES ($1, 'Ada', 'retail', 'NGN', 'Africa/Lagos', 'NG', 1, '', now(), now())
    )
    INSERT INTO books (id, business_id, environment) VALUES ($2, $1, 'test')
"""
_ORDER = """
    INSERT INTO orders (book_id, id, short_code, status, summary, currency, subtotal_amount,
        discount_amount, service_charge_amount, tax_amount, exclusive_tax_amount, total_amount,
        amount_paid, refunded_amount, payment_method, channel, recorded_by_id, recorded_by_name,
        entry_source, occurred_at, created_at, updated_at)
    VALUES ($1, $2, $3, $4, '1 × Rice', 'NGN', 101, 3, 2, 4, 4, 104, 104, $5, 'cash', 'other', $1,
        'Ada Owner', 'api', now(), now(), now())
"""
# As changes were folded before: everything but what was cancelled.
_FOLDED = """
    WITH gone AS (DELETE FROM order_tally_changes RETURNING *), quarters AS (
        INSERT INTO sales_by_quarter_hour (book_id, quarter_at, store_id, total_amount)
        SELECT book_id, quarter_at, store_id, sum(total_amount) FROM gone
        WHERE status <> 'cancelled' GROUP BY 1, 2, 3
    )
    INSERT INTO sales_by_hour (book_id, hour_at, store_id, total_amount)
    SELECT book_id, date_bin('1 hour', quarter_at, '2001-01-01Z'), store_id, sum(total_amount)
    FROM gone WHERE status <> 'cancelled' GROUP BY 1, 2, 3
"""
_TRANSFERS = """
    WITH accounts AS (
        INSERT INTO ledger_accounts (book_id, kind, currency, created_at)
        SELECT $1, unnest(ARRAY['cash', 'receivable', 'refunds', 'expenses']), 'NGN', now()
    )
    INSERT INTO ledger_transfers (book_id, id, debit_kind, credit_kind, amount, currency, kind,
        source_type, source_id, sequence, happened_at, created_at)
    SELECT $1, gen_random_uuid(), t.debit, t.credit, t.amount, 'NGN', t.kind, 'order', $1, 0,
        now(), now()
    FROM (VALUES ('cash', 'receivable', 100, 'payment'), ('receivable', 'cash', 40, 'refund'),
        ('refunds', 'receivable', 40, 'sale_refunded'), ('expenses', 'cash', 7, 'expense'))
        AS t (debit, credit, amount, kind)
"""
_KEPT = """
    SELECT sum(total), sum(tax), sum(discount), sum(service) FROM (
        SELECT total_amount AS total, tax_amount AS tax, discount_amount AS discount,
            service_charge_amount AS service FROM {table}
        UNION ALL
        SELECT total_amount, tax_amount, discount_amount, service_charge_amount
        FROM order_tally_changes
        WHERE quarter_at IS NOT NULL AND status IN ('pending', 'completed', 'refunded')
    ) s
"""
_SUMS = """
    SELECT account_kind, is_cost, sum(amount) FROM ledger_tallies WHERE period = 'hour'
    GROUP BY 1, 2 ORDER BY 1, 2
"""
