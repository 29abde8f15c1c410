"""The state of a book at one moment, read straight from its rows."""

import json
from collections import Counter
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg
import msgspec

from tests.orders.order_model import Events
from tillhouse.access.process import Services
from tillhouse.kit.fault import Fault
from tillhouse.ledger.proof import prove
from tillhouse.orders.posting.proof import ORDER_SOURCE


class Names(msgspec.Struct):
    """The model's names of the rows."""

    orders: dict[str, int] = {}
    variants: dict[str, str] = {}
    sessions: dict[str, int] = {}
    store: str = ""


class Snapshot:
    """Reads the rows of a book in the words of the model."""

    def __init__(self, sql: asyncpg.Connection, book: UUID, names: Names) -> None:
        self._sql = sql
        self._book = book
        self._names = names

    async def debts(self) -> dict[int, tuple[str, Decimal]]:
        """The active debts: of which order who owes how much."""
        rows = await self._sql.fetch(_DEBTS, self._book)
        named = [self._names.orders[str(row["order_id"])] for row in rows]
        assert len(named) == len(set(named)), "an order has two active debts"
        return {
            number: (row["name"], row["balance"])
            for number, row in zip(named, rows, strict=True)
        }  # fmt: skip

    async def levels(self) -> dict[tuple[str, bool], list[Decimal]]:
        """On hand and reserved by variant and place, which must be the sums of their moves."""
        rows = await self._sql.fetch(_LEVELS, self._book)
        for row in rows:
            assert (row["on_hand"], row["reserved"]) == (row["moved"], row["promised"]), row
        return {
            (self._names.variants[str(row["variant_id"])], row["in_store"]): [
                row["on_hand"],
                row["reserved"],
            ]
            for row in rows
        }

    async def accounts(self) -> dict[tuple[str, str | None], Decimal]:
        """Debits less credits of every account that isn't even."""
        rows = await self._sql.fetch(_ACCOUNTS, self._book)
        return {(row["kind"], row["name"]): row["held"] for row in rows}

    async def uses(self) -> dict[tuple[str, str | None], int]:
        """How often each promotion was used: in all, and by whom."""
        rows = await self._sql.fetch(_USES, self._book)
        return {(row["promotion"], row["customer"]): row["used"] for row in rows}

    async def events(self) -> Events:
        """How often what was told of which order, variant, customer."""
        rows = await self._sql.fetch(_TOLD + _EVENTS, self._book)
        found: Events = Counter()
        for row in rows:
            found[row["type"], self._subject(row)] += row["count"]
        return found

    def _subject(self, row: asyncpg.Record) -> Any:
        subject = row["subject"]
        if row["available"] is None:
            return self._names.orders.get(subject, subject)
        assert row["store"] in (None, self._names.store), row
        return (self._names.variants[subject], row["store"] is not None), row["available"]

    async def keys(self) -> tuple[set[str], set[str]]:
        """The keys with a kept answer, and those that orders keep for ever."""
        rows = await self._sql.fetch(_KEYS, self._book)
        kept, lasting = (
            {row["key"] for row in rows if row["is_order"] is is_} for is_ in (False, True)
        )
        return kept, lasting

    async def made(self) -> set[str]:
        """The ids of all orders that there are, the deleted among them."""
        return {str(row["id"]) for row in await self._sql.fetch(_MADE, self._book)}

    async def customers(self) -> set[str]:
        """The names of all customers."""
        rows = await self._sql.fetch(_CUSTOMERS, self._book)
        assert len(rows) == len({row["name"] for row in rows}), "somebody is there twice"
        return {row["name"] for row in rows}

    async def unheard(self, heard: list[str]) -> list[asyncpg.Record]:
        """Events of these types that are not delivered once each; others, that are at all."""
        return await self._sql.fetch(_UNHEARD, self._book, heard)

    async def stories(self) -> dict[int, list[dict[str, Any]]]:
        """The events of each order, the oldest first, with what they carry."""
        rows = await self._sql.fetch(_TOLD + _STORIES, self._book)
        found: dict[int, list[dict[str, Any]]] = {n: [] for n in self._names.orders.values()}
        for row in rows:
            said = json.loads(row["metadata"], parse_float=Decimal, parse_int=Decimal)
            found[self._names.orders[row["subject"]]].append({"type": row["type"], **said})
        return found


async def proof(services: Services, book: UUID) -> list[Fault]:
    """The faults of the ledger of a book."""
    async with services.pool.reading() as db:
        return [fault async for fault in prove(db, book, [ORDER_SOURCE])]


_DEBTS = """
    SELECT d.source_id AS order_id, c.name, d.balance FROM debts d
    JOIN customers c ON c.book_id = $1 AND c.id = d.customer_id
    WHERE d.book_id = $1 AND d.status = 'active'
"""
_LEVELS = """
    SELECT l.variant_id, l.store_id IS NOT NULL AS in_store, l.on_hand, l.reserved,
        coalesce(sum(m.on_hand_change), 0) AS moved, coalesce(sum(m.reserved_change), 0) AS promised
    FROM stock_levels l
    LEFT JOIN stock_moves m ON m.book_id = $1 AND m.variant_id = l.variant_id
        AND m.store_id IS NOT DISTINCT FROM l.store_id
    WHERE l.book_id = $1 GROUP BY l.id, l.variant_id, l.store_id, l.on_hand, l.reserved
"""
_ACCOUNTS = """
    SELECT s.kind, c.name, sum(s.amount) AS held FROM (
        SELECT debit_kind AS kind, debit_owner AS owner, amount
        FROM ledger_transfers WHERE book_id = $1
        UNION ALL
        SELECT credit_kind, credit_owner, -amount FROM ledger_transfers WHERE book_id = $1
    ) s LEFT JOIN customers c ON c.book_id = $1 AND c.id = s.owner
    GROUP BY s.kind, c.name HAVING sum(s.amount) <> 0
"""
_USES = """
    SELECT p.name AS promotion, NULL AS customer, p.used FROM promotions p
    WHERE p.book_id = $1 AND p.used <> 0
    UNION ALL
    SELECT p.name, c.name, u.used FROM promotion_customers u
    JOIN promotions p ON p.book_id = $1 AND p.id = u.promotion_id
    JOIN customers c ON c.book_id = $1 AND c.id = u.customer_id
    WHERE u.book_id = $1 AND u.used <> 0
"""
_KEYS = """
    SELECT key, false AS is_order FROM idempotency_keys WHERE book_id = $1
    UNION ALL
    SELECT idempotency_key, true FROM orders WHERE book_id = $1 AND idempotency_key IS NOT NULL
"""
_MADE = "SELECT id FROM orders WHERE book_id = $1"
_CUSTOMERS = "SELECT name FROM customers WHERE book_id = $1"
_UNHEARD = """
    SELECT e.type, count(d.id) AS deliveries FROM webhook_events e
    LEFT JOIN webhook_deliveries d ON d.book_id = $1 AND d.event_id = e.id
    WHERE e.book_id = $1
    GROUP BY e.id, e.type HAVING count(d.id) <> (e.type = ANY($2))::int
"""
_TOLD = """
    WITH told AS (
        SELECT e.id, e.type, e.payload::jsonb -> 'data' AS data FROM webhook_events e
        WHERE e.book_id = $1 AND e.type ~ '^(order|payment|kitchen_ticket|inventory|contact)[.]'
    ), named AS (
        SELECT t.id, t.type, t.data -> 'metadata' AS metadata, t.data ->> 'storeId' AS store,
            (t.data -> 'metadata' ->> 'available')::numeric AS available,
            coalesce(c.name, t.data -> 'metadata' ->> 'orderId', t.data ->> 'entityId') AS subject
        FROM told t
        LEFT JOIN customers c ON c.book_id = $1 AND t.type LIKE 'contact.%'
            AND c.id::text = t.data ->> 'entityId'
    )
"""
_EVENTS = """
    SELECT type, subject, store, available, count(*) AS count FROM (
        SELECT type, subject, available, CASE WHEN available IS NOT NULL THEN store END AS store
        FROM named
    ) n GROUP BY type, subject, store, available
"""
_STORIES = """
    SELECT type, subject, metadata FROM named
    WHERE type ~ '^(order|payment|kitchen_ticket)[.]' ORDER BY id
"""
