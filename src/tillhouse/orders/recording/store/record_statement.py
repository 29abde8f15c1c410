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
from tillhouse.kit.ids import BookId, OrderId
from tillhouse.kit.json import encode
from tillhouse.kitchen.store import QUEUE
from tillhouse.ledger.store.posting import GIVEN, Rows
from tillhouse.orders.payments.rules import PaymentRow
from tillhouse.orders.payments.store import PAY, PAYING
from tillhouse.orders.types import CustomerShown
from tillhouse.stock.facts import Moved
from tillhouse.stock.store.moving import MOVE, MOVED, NO_THRESHOLD_CROSSED
from tillhouse.webhooks.emit import note_told
from tillhouse.webhooks.store.events import TELL, Told

_GIVEN: LiteralString = (
    "WITH "
    + GIVEN
    + """, sale AS (
        SELECT * FROM json_to_recordset($7) AS r (id uuid, short_code text, idempotency_key text,
            idempotency_fingerprint text, status text, summary text, subtotal_amount numeric,
            discount_amount numeric, service_charge_amount numeric, tax_amount numeric,
            exclusive_tax_amount numeric, total_amount numeric, amount_paid numeric,
            change_amount numeric, credit_amount numeric,
            payment_method text, customer_id uuid, store_id uuid, channel text,
            scheduled_at timestamptz, service_mode text, table_session_id uuid,
            table_label text, covers integer, academic_term_id uuid, promotion_id uuid,
            promotion_customer_id uuid, tag_ids uuid[], notes text, recorded_by_id uuid,
            recorded_by_name text, served_by_id uuid, entry_source text, wants_kitchen boolean,
            fires_at timestamptz, stock_state text, stock_round integer, postings integer,
            occurred_at timestamptz, created_at timestamptz, ticket_id uuid,
            hotel_reservation_id uuid, hotel_room_id uuid)
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
        FROM unnest($10::uuid[], $11::text[], $12::text[], $13::timestamptz[], $14::uuid[])
            AS t (id, type, payload, at, app_id)
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

_ORDER: LiteralString = """
    placed AS (
        INSERT INTO orders (book_id, id, short_code, idempotency_key, idempotency_fingerprint,
            status, summary, currency, subtotal_amount, discount_amount,
            service_charge_amount, tax_amount, exclusive_tax_amount, total_amount, amount_paid,
            change_amount, credit_amount, paid_by_cash, paid_by_transfer, paid_by_pos,
            paid_by_cloove_pay, paid_by_credit, paid_by_other,
            payment_method, customer_id, store_id, channel, scheduled_at, service_mode,
            table_session_id, table_label, covers, academic_term_id, promotion_id,
            promotion_customer_id, tag_ids, notes, recorded_by_id, recorded_by_name,
            served_by_id, entry_source, wants_kitchen, fires_at, stock_state, stock_round,
            postings, occurred_at, created_at, updated_at, hotel_reservation_id, hotel_room_id)
        SELECT $1, id, short_code, idempotency_key, decode(idempotency_fingerprint, 'hex'),
            status, summary, $3, subtotal_amount, discount_amount, service_charge_amount,
            tax_amount, exclusive_tax_amount, total_amount, amount_paid, change_amount,
            credit_amount, CASE payment_method WHEN 'cash' THEN paid END,
            CASE payment_method WHEN 'transfer' THEN paid END,
            CASE payment_method WHEN 'pos' THEN paid END,
            CASE payment_method WHEN 'cloove_pay' THEN paid END,
            CASE payment_method WHEN 'credit' THEN paid END,
            CASE payment_method WHEN 'other' THEN paid END, payment_method,
            customer_id, store_id, channel, scheduled_at, service_mode, table_session_id,
            table_label, covers, academic_term_id, promotion_id, promotion_customer_id, tag_ids,
            notes, recorded_by_id, recorded_by_name, served_by_id, entry_source, wants_kitchen,
            fires_at, stock_state, stock_round, postings, occurred_at, created_at, created_at,
            hotel_reservation_id, hotel_room_id
        FROM sale CROSS JOIN LATERAL (
            SELECT CASE WHEN amount_paid > 0 THEN amount_paid - change_amount END AS paid) AS p
    ), lined AS (
        INSERT INTO order_items (book_id, id, order_id, position, line_type, product_id,
            variant_id, product_name, variant_name, quantity, unit_price, original_unit_price,
            subtotal_amount, discount_amount, tax_amount, total_price, image_url, modifiers,
            components)
        SELECT $1, r.id, r.order_id, r.position, r.line_type, r.product_id, r.variant_id,
            r.product_name, r.variant_name, r.quantity, r.unit_price, r.original_unit_price,
            r.subtotal_amount, r.discount_amount, r.tax_amount, r.total_price, r.image_url,
            r.modifiers, r.components
        FROM json_to_recordset($8) AS r (id uuid, order_id uuid, position integer,
            line_type text, product_id uuid, variant_id uuid, product_name text, variant_name text,
            quantity numeric, unit_price numeric, original_unit_price numeric,
            subtotal_amount numeric, discount_amount numeric, tax_amount numeric,
            total_price numeric, image_url text, modifiers jsonb, components jsonb)
    ), """

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


class Kept(msgspec.Struct, frozen=True):
    """The idempotency key of the request, with its answer."""

    surface: str
    key: str
    fingerprint: bytes
    answer: bytes


class Entry(msgspec.Struct, kw_only=True):
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
    payment: PaymentRow | None


class Recording(msgspec.Struct, frozen=True):
    """An order with what is told of it, and with the key and the answer of its request."""

    now: datetime
    entry: Entry
    told: Told
    kept: Kept | None
    # The customer who is made with the order.
    newcomer: CustomerShown | None = None

    @property
    def key(self) -> str:
        """The idempotency key, empty without one: rivals take keys in the order of their text."""
        return self.kept.key if self.kept else ""


class Written(msgspec.Struct, frozen=True):
    """The result of an order: whether table session and store were open, its moves of stock."""

    is_seated: bool
    is_housed: bool
    moved: list[Moved]
    queued: int


BookCurrency = tuple[BookId, str]
"""The book and the currency that orders of one statement have in common."""


async def insert_order(db: Db, book: BookCurrency, recording: Recording) -> Written:
    """Record an order in (book, currency); the caller rolls back unless all of it could be had."""
    bundle = _Bundle([recording])
    row = await db.fetchrow(bundle.statement() + bundle.found(), *bundle.values(book))
    assert row is not None, "a SELECT without FROM gives a row"  # noqa: S101
    moved = msgspec.json.decode(row["moved"], type=list[Moved]) if row["moved"] else []
    return Written(row["is_seated"], row["is_housed"], moved, row["queued"])


async def insert_orders(db: Db, book: BookCurrency, recordings: Sequence[Recording]) -> bool:
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
    db: Db, book: BookCurrency, recordings: Sequence[Recording]
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

    def __init__(self, recordings: Sequence[Recording]) -> None:
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
        )

    def statement(self) -> LiteralString:
        """The bricks that these orders take: each that is left out is work that nobody does."""
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
