"""The step from orders to sources, on a database that has orders in it."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import asyncpg
import pytest

from tillhouse.db.migrate import MIGRATIONS, migrate
from tillhouse.kit.ids import new_id

STEP = "sources_and_holds"


@pytest.fixture
async def before(server_url: str, tmp_path: Path) -> AsyncIterator[asyncpg.Connection]:
    """A database as it was before that step."""
    name = f"tillhouse_before_{uuid4().hex}"
    admin = await asyncpg.connect(server_url)
    await admin.execute(f"CREATE DATABASE {name}")
    connection = await asyncpg.connect(urlunsplit(urlsplit(server_url)._replace(path=f"/{name}")))
    for path in sorted(MIGRATIONS.glob("*.sql")):
        if STEP in path.name:
            break
        shutil.copy(path, tmp_path)
    await migrate(connection, folder=tmp_path)
    yield connection
    await connection.close()
    await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await admin.close()


async def test_what_orders_wrote_is_theirs_afterwards(before: asyncpg.Connection) -> None:
    """Each transaction and debt has its order as its source; balances hold nothing."""
    book, order, customer = new_id(), new_id(), new_id()
    # Foreign keys look away: what a business needs besides is no matter here.
    await before.execute("SET session_replication_role = replica")
    await before.execute(
        """
        INSERT INTO transactions (book_id, id, reference, type, status, method, amount, currency,
            order_id, customer_id, happened_at, created_at, updated_at)
        VALUES ($1, $2, 'TXN-1', 'sale', 'successful', 'cash', 400, 'NGN', $2, $3, now(), now(),
            now())
        """,
        book,
        order,
        customer,
    )
    await before.execute(
        """
        INSERT INTO debts (book_id, id, order_id, customer_id, status, balance, currency,
            opened_at, updated_at)
        VALUES ($1, $2, $2, $3, 'active', 600, 'NGN', now(), now())
        """,
        book,
        order,
        customer,
    )
    await before.execute(
        """
        INSERT INTO ledger_balances (book_id, kind, owner_id, debits, credits)
        VALUES ($1, 'customer_credit', $2, 0, 50)
        """,
        book,
        customer,
    )
    await before.execute("SET session_replication_role = origin")
    assert STEP in [step.name for step in await migrate(before)]
    source = {"source_type": "order", "source_id": order}
    for found in (
        await before.fetchrow("SELECT source_type, source_id FROM transactions"),
        await before.fetchrow("SELECT source_type, source_id FROM debts"),
    ):
        assert found is not None
        assert dict(found) == source
    assert await before.fetchval("SELECT held FROM ledger_balances") == 0
    with pytest.raises(asyncpg.NotNullViolationError):
        await before.execute(
            "INSERT INTO debts SELECT book_id, id, source_id, customer_id, status FROM debts"
        )
