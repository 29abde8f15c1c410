"""The one statement that records orders with all that belongs to them.

Order, lines, stock, postings, debt and kitchen ticket are written together: one round trip, and
nothing of it without the rest, its events and the answer to its idempotency key among it. The
parts of other rooms are their own text (MOVE, POST, QUEUE, TELL, KEEP). Each takes the rows of one
order as well as those of several, which then are recorded together or not at all.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, LiteralString

import asyncpg
import msgspec

from tillhouse.customers.store import IS_NEW, MAKE
from tillhouse.db.constraints import is_rolled_back
from tillhouse.db.pool import Db
from tillhouse.http.store import KEEP
from tillhouse.kit.columns import each, names, record
from tillhouse.kit.ids import BookId, OrderId
from tillhouse.kit.json import encode
from tillhouse.kitchen.store import QUEUE
from tillhouse.ledger.store.posting import GIVEN, Rows
from tillhouse.orders.columns import ITEMS, METHODS, RECORDED
from tillhouse.orders.payments.rules import OrderPaymentRow
from tillhouse.orders.payments.store import PAY, PAYING
from tillhouse.orders.types import CustomerShown
from tillhouse.stock.facts import MovedStock
from tillhouse.stock.store.moving import MOVE, MOVED, NO_THRESHOLD_CROSSED
from tillhouse.webhooks.emit import note_told
from tillhouse.webhooks.store.events import TELL, EventRows

_GIVEN: LiteralString = (
    "WITH "
    + GIVEN
    + """, sale AS (
        SELECT * FROM json_to_recordset($7) AS r ("""
    + record(RECORDED)
    + """, ticket_id uuid)
    ), source AS (
        SELECT 'order' AS source_type, id AS source_id, customer_id, store_id,
            occurred_at AS happened_at
        FROM sale
    ), moving AS (
        SELECT r.*, 0 AS round, NULL::text AS reason
        FROM json_to_recordset($9) AS r (id uuid, variant_id uuid, store_id uuid, kind text,
            on_hand_change numeric, reserved_change numeric, order_id uuid, order_item_id uuid,
            actor jsonb, allows boolean)
    ), told AS MATERIALIZED (
        SELECT *
        FROM unnest($10::uuid[], $11::text[], $12::text[], $13::timestamptz[], $14::uuid[],
            $22::uuid[]) AS t (id, type, payload, at, app_id, entity_id)
    ), keeping AS (
        SELECT * FROM unnest($15::text[], $16::text[], $17::bytea[], $18::bytea[])
            AS k (surface, key, fingerprint, answer)
    ), newcomer AS (
        SELECT * FROM unnest($19::uuid[], $20::text[]) AS n (id, name)
    ), paying AS (
        SELECT * FROM json_to_recordset($21)"""
    + PAYING
    + "), "
)

_ORDER: LiteralString = (
    """
    placed AS (
        INSERT INTO orders (book_id, currency, updated_at, """
    + names(RECORDED)
    + ", "
    + each("paid_by_{0}", METHODS)
    + """)
        SELECT $1, $3, created_at, """
    + names(RECORDED)
    + ", "
    + each("CASE payment_method WHEN '{0}' THEN paid END", METHODS)
    + """
        FROM sale CROSS JOIN LATERAL (
            SELECT CASE WHEN amount_paid > 0 THEN amount_paid - change_amount END AS paid) AS p
    ), lined AS (
        INSERT INTO order_items (book_id, """
    + names(ITEMS)
    + """)
        SELECT $1, """
    + names(ITEMS, "r.{0}")
    + """
        FROM json_to_recordset($8) AS r ("""
    + record(ITEMS)
    + """)
    ), """
)

_SEATED: LiteralString = """
    seated AS (
        -- A session that is being closed waits for the order, or the order for it.
        SELECT s.id FROM table_sessions s
        WHERE s.book_id = $1 AND s.status = 'open'
            AND s.id = ANY(ARRAY(SELECT table_session_id FROM sale))
        ORDER BY s.id
        FOR SHARE OF s
    ), """

_HOUSED: LiteralString = """
    housed AS (
        -- A store that is being deleted waits for the order, or the order for it.
        SELECT s.id FROM stores s
        WHERE s.book_id = $1 AND s.deleted_at IS NULL
            AND s.id = ANY(ARRAY(SELECT store_id FROM sale))
        ORDER BY s.id
        FOR KEY SHARE OF s
    ), """

_TICKETING: LiteralString = """
    ticketing AS (
        SELECT ticket_id AS id, id AS order_id, created_at AS at
        FROM sale WHERE ticket_id IS NOT NULL
    ), """

_IS_SEATED: LiteralString = """
    NOT EXISTS (SELECT FROM sale WHERE table_session_id IS NOT NULL
        AND table_session_id NOT IN (SELECT id FROM seated))
"""


_IS_HOUSED: LiteralString = """
    NOT EXISTS (SELECT FROM sale WHERE store_id IS NOT NULL
        AND store_id NOT IN (SELECT id FROM housed))
"""


class KeptAnswer(msgspec.Struct, frozen=True):
    """The idempotency key of the request, with its answer."""

    surface: str
    key: str
    fingerprint: bytes
    answer: bytes


class OrderRows(msgspec.Struct, kw_only=True):
    """The rows of one order: JSON objects, by the names of their columns."""

    id: OrderId
    currency: str
    has_session: bool
    has_store: bool
    has_ticket: bool
    order: dict[str, Any]
    items: list[dict[str, Any]]
    # The items as JSON, and the bytes that it has.
    items_json: str
    items_bytes: int
    moves: list[dict[str, Any]]
    posted: Rows
    payment: OrderPaymentRow | None


class OrderToRecord(msgspec.Struct, frozen=True):
    """An order with what is told of it, and with the key and the answer of its request."""

    now: datetime
    entry: OrderRows
    told: EventRows
    kept: KeptAnswer | None
    # The customer who is made with the order.
    newcomer: CustomerShown | None = None

    @property
    def key(self) -> str:
        """The idempotency key, empty without one: rivals take keys in the order of their text."""
        return self.kept.key if self.kept else ""


class OrderResult(msgspec.Struct, frozen=True):
    """The result of an order: whether table session and store were open, its moves of stock."""

    is_seated: bool
    is_housed: bool
    moved: list[MovedStock]
    queued: int


BookCurrency = tuple[BookId, str]
"""The book and the currency that orders of one statement have in common."""


async def insert_order(db: Db, book: BookCurrency, recording: OrderToRecord) -> OrderResult:
    """Record an order in (book, currency); the caller rolls back unless all of it could be had."""
    bundle = _Bundle([recording])
    row = await db.fetchrow(bundle.statement() + bundle.found(), *bundle.values(book))
    assert row is not None, "a SELECT without FROM gives a row"  # noqa: S101
    moved = msgspec.json.decode(row["moved"], type=list[MovedStock]) if row["moved"] else []
    return OrderResult(row["is_seated"], row["is_housed"], moved, row["queued"])


async def insert_orders(db: Db, book: BookCurrency, recordings: Sequence[OrderToRecord]) -> bool:
    """Record orders by a statement that is the whole transaction.

    False: something was not to be had, or there is more to tell. None of them was recorded then.
    """
    bundle = _Bundle(sorted(recordings, key=lambda one: one.key))
    try:
        row = await db.write_once(bundle.statement() + bundle.unless(), *bundle.values(book))
    except asyncpg.PostgresError as error:
        if is_rolled_back(error):
            return False
        raise
    assert row is not None, "a SELECT without FROM gives a row"  # noqa: S101
    note_told(db, book[0], row["queued"])
    return True


async def insert_orders_of_newcomers(
    db: Db, book: BookCurrency, recordings: Sequence[OrderToRecord]
) -> bool:
    """Record orders, and new customers of some, whose names this transaction has locked."""
    bundle = _Bundle(sorted(recordings, key=lambda one: one.key))
    try:
        row = await db.fetchrow(bundle.statement() + bundle.unless(), *bundle.values(book))
    except asyncpg.PostgresError as error:
        if is_rolled_back(error):
            return False
        raise
    assert row is not None, "a SELECT without FROM gives a row"  # noqa: S101
    note_told(db, book[0], row["queued"])
    return True


class _Bundle:
    """The orders of one statement: its text and its values."""

    def __init__(self, recordings: Sequence[OrderToRecord]) -> None:
        self._recordings = recordings
        self._orders = [one.entry.order for one in recordings]
        self._items = [one.entry.items_json[1:-1] for one in recordings]
        self._moves = [row for one in recordings for row in one.entry.moves]
        self._kept = [one.kept for one in recordings if one.kept]
        self._rows = Rows.of([one.entry.posted for one in recordings])
        self._payments = [one.entry.payment for one in recordings if one.entry.payment]
        self._newcomers = [one.newcomer for one in recordings if one.newcomer]
        self._has_session = any(one.entry.has_session for one in recordings)
        self._has_store = any(one.entry.has_store for one in recordings)
        self._has_ticket = any(one.entry.has_ticket for one in recordings)

    def values(self, book: BookCurrency) -> tuple[object, ...]:
        """The parameters, in their order."""
        book_id, currency = book
        told, kept = [one.told for one in self._recordings], self._kept
        return (
            book_id,
            max(one.now for one in self._recordings),
            currency,
            _text(self._rows.posting),
            _text(self._rows.movement),
            _text(self._rows.owing),
            _text(self._orders),
            f"[{','.join(self._items)}]",
            _text(self._moves),
            [id_ for one in told for id_ in one.ids],
            [type_ for one in told for type_ in one.types],
            [payload for one in told for payload in one.payloads],
            [moment for one in told for moment in one.moments],
            [one.app_id for one in told for _ in one.ids],
            [one.surface for one in kept],
            [one.key for one in kept],
            [one.fingerprint for one in kept],
            [one.answer for one in kept],
            [one.id for one in self._newcomers],
            [one.name for one in self._newcomers],
            _text(self._payments),
            [entity_id for one in told for entity_id in one.entity_ids],
        )

    def statement(self) -> LiteralString:
        """The bricks that these orders take: each that is left out saves its work."""
        sql = _GIVEN + _ORDER
        if self._has_session:
            sql += _SEATED
        if self._has_store:
            sql += _HOUSED
        if self._has_ticket:
            sql += _TICKETING + QUEUE + ", "
        if self._newcomers:
            sql += MAKE + ", "
        if self._moves:
            sql += MOVE + ", moved AS MATERIALIZED (" + MOVED + "), "
        if self._rows.posting:
            sql += self._rows.post + ", "
        if self._payments:
            sql += PAY + ", "
        if self._kept:
            sql += KEEP + ", "
        return sql + TELL

    def found(self) -> LiteralString:
        """The result."""
        moved: LiteralString = "(SELECT json_agg(m) FROM moved m)" if self._moves else "NULL::json"
        return (
            "SELECT "
            + self._seated()
            + " AS is_seated, "
            + self._housed()
            + " AS is_housed, "
            + moved
            + " AS moved, (SELECT count(*) FROM queued) AS queued"
        )

    def unless(self) -> LiteralString:
        """Take all back unless it was had in full, and no stock became something to tell of."""
        steady: LiteralString = (
            "NOT EXISTS (SELECT FROM moved m WHERE NOT (" + NO_THRESHOLD_CROSSED + "))"
        )
        return (
            "SELECT (SELECT count(*) FROM queued) AS queued WHERE rollback_unless("
            + self._seated()
            + " AND "
            + self._housed()
            + " AND "
            + (IS_NEW if self._newcomers else "true")
            + " AND "
            + (steady if self._moves else "true")
            + ")"
        )

    def _seated(self) -> LiteralString:
        return _IS_SEATED if self._has_session else "true"

    def _housed(self) -> LiteralString:
        return _IS_HOUSED if self._has_store else "true"


def _text(rows: Sequence[object]) -> str:
    return encode(rows).decode()
