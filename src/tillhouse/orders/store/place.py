"""The one statement that records an order with all that belongs to it.

Order, lines, stock, postings, debt and kitchen ticket are written together: one round trip, and
nothing of it without the rest. The parts of other rooms are their own text (MOVE, POST).
"""

from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import msgspec

from tillhouse.catalog.stock.facts import Moved
from tillhouse.catalog.stock.store.moving import MOVE, MOVED
from tillhouse.db.pool import Db
from tillhouse.kit.json import encode
from tillhouse.ledger.rules import Postings
from tillhouse.ledger.store.posting import GIVEN, POST, rows

_PLACE: LiteralString = (
    "WITH "
    + GIVEN
    + """, one AS (
        SELECT * FROM json_to_record($7) AS r (id uuid, short_code text, idempotency_key text,
            idempotency_fingerprint text, status text, summary text, subtotal_amount numeric,
            discount_amount numeric, service_charge_amount numeric, tax_amount numeric,
            exclusive_tax_amount numeric, total_amount numeric, amount_paid numeric,
            payment_method text, customer_id uuid, store_id uuid, channel text,
            scheduled_at timestamptz, service_mode text, table_session_id uuid,
            table_label text, covers integer, academic_term_id uuid, promotion_id uuid,
            promotion_customer_id uuid, tag_ids uuid[], notes text, recorded_by_id uuid,
            recorded_by_name text, served_by_id uuid, entry_source text, wants_kitchen boolean,
            fires_at timestamptz, stock_state text, stock_round integer, postings integer,
            occurred_at timestamptz, ticket_id uuid)
    ), seated AS (
        -- A session that is being closed waits for the order, or the order for it.
        SELECT s.id FROM one
        JOIN table_sessions s ON s.book_id = $1 AND s.id = one.table_session_id
        WHERE s.status = 'open'
        FOR SHARE OF s
    ), placed AS (
        INSERT INTO orders (book_id, id, short_code, idempotency_key, idempotency_fingerprint,
            status, summary, currency, subtotal_amount, discount_amount,
            service_charge_amount, tax_amount, exclusive_tax_amount, total_amount, amount_paid,
            payment_method, customer_id, store_id, channel, scheduled_at, service_mode,
            table_session_id, table_label, covers, academic_term_id, promotion_id,
            promotion_customer_id, tag_ids, notes, recorded_by_id, recorded_by_name,
            served_by_id, entry_source, wants_kitchen, fires_at, stock_state, stock_round,
            postings, occurred_at, created_at, updated_at)
        SELECT $1, id, short_code, idempotency_key, decode(idempotency_fingerprint, 'hex'),
            status, summary, $3, subtotal_amount, discount_amount, service_charge_amount,
            tax_amount, exclusive_tax_amount, total_amount, amount_paid, payment_method,
            customer_id, store_id, channel, scheduled_at, service_mode, table_session_id,
            table_label, covers, academic_term_id, promotion_id, promotion_customer_id, tag_ids,
            notes, recorded_by_id, recorded_by_name, served_by_id, entry_source, wants_kitchen,
            fires_at, stock_state, stock_round, postings, occurred_at, $2, $2
        FROM one
    ), lined AS (
        INSERT INTO order_items (book_id, id, order_id, position, line_type, product_id,
            variant_id, product_name, variant_name, quantity, unit_price, original_unit_price,
            subtotal_amount, discount_amount, tax_amount, total_price, image_url, modifiers,
            components)
        SELECT $1, r.id, one.id, r.position, r.line_type, r.product_id, r.variant_id,
            r.product_name, r.variant_name, r.quantity, r.unit_price, r.original_unit_price,
            r.subtotal_amount, r.discount_amount, r.tax_amount, r.total_price, r.image_url,
            r.modifiers, r.components
        FROM one, json_to_recordset($8) AS r (id uuid, position integer, line_type text,
            product_id uuid, variant_id uuid, product_name text, variant_name text,
            quantity numeric, unit_price numeric, original_unit_price numeric,
            subtotal_amount numeric, discount_amount numeric, tax_amount numeric,
            total_price numeric, image_url text, modifiers jsonb, components jsonb)
    ), ticket AS (
        INSERT INTO kitchen_tickets (book_id, id, order_id, status, queued_at, updated_at)
        SELECT $1, ticket_id, id, 'queued', $2, $2 FROM one WHERE ticket_id IS NOT NULL
    ), moving AS (
        SELECT r.*, one.id AS order_id, one.stock_round AS round, NULL::text AS reason,
            NULL::jsonb AS actor
        FROM one, json_to_recordset($9) AS r (id uuid, variant_id uuid, store_id uuid, kind text,
            on_hand_change numeric, reserved_change numeric, order_item_id uuid, allows boolean)
    ), source AS (
        SELECT id AS order_id, customer_id, store_id, occurred_at AS happened_at FROM one
    ), """
    + MOVE
    + ", "
    + POST
    + "SELECT EXISTS (SELECT FROM seated) AS is_seated, (SELECT json_agg(m) FROM ("
    + MOVED
    + ") m) AS moved"
)


class Entry(msgspec.Struct, kw_only=True):
    """What is written of one order: rows as JSON objects, by the names of their columns."""

    order: dict[str, Any]
    items: list[dict[str, Any]]
    moves: list[dict[str, Any]]
    postings: Postings


class Written(msgspec.Struct, frozen=True):
    """What came of an order: whether its table session was open, and its moves of stock."""

    is_seated: bool
    moved: list[Moved]


async def insert_order(db: Db, book_id: UUID, now: datetime, entry: Entry) -> Written:
    """Record an order; the caller rolls back unless all of it could be had."""
    written = rows(entry.postings, 0)
    row = await db.fetchrow(
        _PLACE,
        book_id,
        now,
        entry.postings.currency,
        encode(written.posting).decode(),
        encode(written.receipt).decode(),
        encode(written.owing).decode(),
        encode(entry.order).decode(),
        encode(entry.items).decode(),
        encode(entry.moves).decode(),
    )
    assert row is not None, "a SELECT without FROM gives a row"  # noqa: S101
    moved = msgspec.json.decode(row["moved"], type=list[Moved]) if row["moved"] else []
    return Written(row["is_seated"], moved)
