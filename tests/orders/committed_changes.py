"""Sees what was committed at the very moment: which levels of stock changed, which guests left."""

from collections import Counter
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg

# Which transaction, which event, of which variant and store, at how many that are available.
Crossing = tuple[int, str, str, str | None, Decimal]


class Watch:
    """Triggers that keep what each level was and became, and what a session held when it closed.

    The row's lock puts the changes of a level in line; what is undone leaves no trace here.
    """

    def __init__(self, sql: asyncpg.Connection) -> None:
        self._sql = sql

    async def begin(self) -> None:
        """From now on."""
        for statement in _BEGIN:
            await self._sql.execute(statement)

    async def end(self) -> None:
        """As if it had never been."""
        for statement in _END:
            await self._sql.execute(statement)

    async def crossings(self, book: UUID, thresholds: dict[str, Decimal]) -> Counter[Crossing]:
        """The levels that each committed transaction brought down to their threshold, or to
        zero."""
        found: Counter[Crossing] = Counter()
        for row in await self._sql.fetch(_CHANGES, book):
            before, after = row["was"], row["has"]
            threshold = thresholds.get(row["variant"])
            for name, line in ("low_stock", threshold), ("out_of_stock", Decimal(0)):
                if line is not None and after <= line < before:
                    place = row["variant"], row["store"], after
                    found[row["xact"], f"inventory.{name}", *place] += 1
        return found

    async def told(self, book: UUID) -> Counter[Crossing]:
        """The stock events, with their causes."""
        return Counter(tuple(row) for row in await self._sql.fetch(_TOLD, book))

    async def late(self, book: UUID) -> list[asyncpg.Record]:
        """Sessions with orders that they didn't have when they closed."""
        return await self._sql.fetch(_LATE, book)

    async def sales(self, book: UUID) -> set[int]:
        """The transactions that recorded an order."""
        return {row["xact"] for row in await self._sql.fetch(_SALES, book)}


_BEGIN: tuple[Any, ...] = (
    """
    CREATE TABLE watched_levels (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        xact bigint NOT NULL, book_id uuid NOT NULL, variant_id uuid NOT NULL, store_id uuid,
        was numeric NOT NULL, has numeric NOT NULL)
    """,
    """
    CREATE FUNCTION watch_level() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO watched_levels (xact, book_id, variant_id, store_id, was, has)
        VALUES (pg_current_xact_id()::text::bigint, NEW.book_id, NEW.variant_id, NEW.store_id,
            OLD.on_hand - OLD.reserved, NEW.on_hand - NEW.reserved);
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER watched AFTER UPDATE ON stock_levels
    FOR EACH ROW EXECUTE FUNCTION watch_level()
    """,
    """
    CREATE TABLE watched_sessions (book_id uuid NOT NULL, session_id uuid NOT NULL,
        orders bigint NOT NULL)
    """,
    """
    CREATE FUNCTION watch_session() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO watched_sessions (book_id, session_id, orders)
        SELECT NEW.book_id, NEW.id, count(*) FROM orders
        WHERE book_id = NEW.book_id AND table_session_id = NEW.id;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER watched AFTER UPDATE ON table_sessions
    FOR EACH ROW WHEN (OLD.status <> 'closed' AND NEW.status = 'closed')
    EXECUTE FUNCTION watch_session()
    """,
)
_END = (
    "DROP TRIGGER watched ON stock_levels",
    "DROP FUNCTION watch_level",
    "DROP TABLE watched_levels",
    "DROP TRIGGER watched ON table_sessions",
    "DROP FUNCTION watch_session",
    "DROP TABLE watched_sessions",
)
# Others see a level as it was before a transaction, and as it is after it.
_CHANGES = """
    SELECT xact, variant_id::text AS variant, store_id::text AS store,
        (array_agg(was ORDER BY id))[1] AS was, (array_agg(has ORDER BY id DESC))[1] AS has
    FROM watched_levels WHERE book_id = $1 GROUP BY xact, variant_id, store_id
"""
# Rows that are never changed bear the number of the transaction that wrote them.
_TOLD = """
    SELECT xmin::text::bigint, type, data ->> 'entityId', data ->> 'storeId',
        (data -> 'metadata' ->> 'available')::numeric
    FROM (
        SELECT xmin, type, payload::jsonb -> 'data' AS data FROM webhook_events WHERE book_id = $1
    ) e WHERE type LIKE 'inventory.%'
"""
_SALES = "SELECT DISTINCT xmin::text::bigint AS xact FROM order_items WHERE book_id = $1"
_LATE = """
    SELECT w.session_id, w.orders, count(o.id) AS now FROM watched_sessions w
    LEFT JOIN orders o ON o.book_id = $1 AND o.table_session_id = w.session_id
    WHERE w.book_id = $1 GROUP BY w.session_id, w.orders HAVING count(o.id) <> w.orders
"""
