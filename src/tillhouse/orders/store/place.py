"""The one statement that records an order with all that belongs to it.

Order, lines, stock, postings, debt and kitchen ticket are written together: one round trip, and
nothing of it without the rest, its events and the answer to its idempotency key among it. The
parts of other rooms are their own text (MOVE, POST, TELL, KEEP).
"""

from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import asyncpg
import msgspec

from tillhouse.catalog.stock.facts import Moved
from tillhouse.catalog.stock.store.moving import MOVE, MOVED, STEADY
from tillhouse.db.constraints import is_taken_back
from tillhouse.db.pool import Db
from tillhouse.http.store import KEEP
from tillhouse.kit.json import encode
from tillhouse.ledger.rules import Postings
from tillhouse.ledger.store.posting import GIVEN, Rows, rows
from tillhouse.webhooks.store.events import TELL, Told

_GIVEN: LiteralString = (
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
    ), source AS (
        SELECT id AS order_id, customer_id, store_id, occurred_at AS happened_at FROM one
    ), moving AS (
        SELECT r.*, one.id AS order_id, one.stock_round AS round, NULL::text AS reason,
            NULL::jsonb AS actor
        FROM one, json_to_recordset($9) AS r (id uuid, variant_id uuid, store_id uuid, kind text,
            on_hand_change numeric, reserved_change numeric, order_item_id uuid, allows boolean)
    ), told AS MATERIALIZED (
        SELECT t.*, $14::uuid AS app_id
        FROM unnest($10::uuid[], $11::text[], $12::text[], $13::timestamptz[])
            AS t (id, type, payload, at)
    ), keeping AS (
        SELECT $15::text AS surface, $16::text AS key, $17::bytea AS fingerprint,
            $18::bytea AS answer
    ), """
)

_ORDER: LiteralString = """
    placed AS (
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
    ), """

_SEATED: LiteralString = """
    seated AS (
        -- A session that is being closed waits for the order, or the order for it.
        SELECT s.id FROM one
        JOIN table_sessions s ON s.book_id = $1 AND s.id = one.table_session_id
        WHERE s.status = 'open'
        FOR SHARE OF s
    ), """

_TICKET: LiteralString = """
    ticket AS (
        INSERT INTO kitchen_tickets (book_id, id, order_id, status, queued_at, updated_at)
        SELECT $1, ticket_id, id, 'queued', $2, $2 FROM one WHERE ticket_id IS NOT NULL
    ), """


class Kept(msgspec.Struct, frozen=True):
    """The idempotency key of the request, with its answer."""

    surface: str
    key: str
    fingerprint: bytes
    answer: bytes


class Entry(msgspec.Struct, kw_only=True):
    """What is written of one order: rows as JSON objects, by the names of their columns."""

    order: dict[str, Any]
    items: list[dict[str, Any]]
    moves: list[dict[str, Any]]
    postings: Postings
    has_session: bool
    has_ticket: bool


class Written(msgspec.Struct, frozen=True):
    """What came of an order: whether its table session was open, and its moves of stock."""

    is_seated: bool
    moved: list[Moved]
    queued: int


async def insert_order(
    db: Db, place: tuple[UUID, datetime], entry: Entry, told: Told, kept: Kept | None
) -> Written:
    """Record an order in (book, now); the caller rolls back unless all of it could be had."""
    written = rows(entry.postings, 0)
    row = await db.fetchrow(
        _statement(entry, written, keeps=kept is not None) + _found(entry),
        *_values(place, entry, written, told, kept),
    )
    assert row is not None, "a SELECT without FROM gives a row"  # noqa: S101
    moved = msgspec.json.decode(row["moved"], type=list[Moved]) if row["moved"] else []
    return Written(row["is_seated"], moved, row["queued"])


async def insert_whole_order(
    db: Db, place: tuple[UUID, datetime], entry: Entry, told: Told, kept: Kept | None
) -> int | None:
    """Record an order by a statement that is the whole transaction; how many deliveries it queued.

    None: something was not to be had, or there is more to tell. Nothing was recorded then.
    """
    written = rows(entry.postings, 0)
    try:
        row = await db.whole(
            _statement(entry, written, keeps=kept is not None) + _unless(entry),
            *_values(place, entry, written, told, kept),
        )
    except asyncpg.PostgresError as error:
        if is_taken_back(error):
            return None
        raise
    assert row is not None, "a SELECT without FROM gives a row"  # noqa: S101
    return row["queued"]


def _values(
    place: tuple[UUID, datetime], entry: Entry, written: Rows, told: Told, kept: Kept | None
) -> tuple[object, ...]:
    return (
        *place,
        entry.postings.currency,
        encode(written.posting).decode(),
        encode(written.receipt).decode(),
        encode(written.owing).decode(),
        encode(entry.order).decode(),
        encode(entry.items).decode(),
        encode(entry.moves).decode(),
        told.ids,
        told.types,
        told.payloads,
        told.moments,
        told.app_id,
        *((kept.surface, kept.key, kept.fingerprint, kept.answer) if kept else (None,) * 4),
    )


def _statement(entry: Entry, written: Rows, *, keeps: bool) -> LiteralString:
    """The bricks that this order takes: each that is left out is work that nobody does."""
    sql = _GIVEN + _ORDER
    if entry.has_session:
        sql += _SEATED
    if entry.has_ticket:
        sql += _TICKET
    if entry.moves:
        sql += MOVE + ", moved AS MATERIALIZED (" + MOVED + "), "
    if written.posting:
        sql += written.post + ", "
    if keeps:
        sql += KEEP + ", "
    return sql + TELL


def _found(entry: Entry) -> LiteralString:
    """What came of it."""
    moved: LiteralString = "(SELECT json_agg(m) FROM moved m)" if entry.moves else "NULL::json"
    return (
        "SELECT " + _seated(entry) + " AS is_seated, " + moved + " AS moved, "
        "(SELECT count(*) FROM queued) AS queued"
    )


def _unless(entry: Entry) -> LiteralString:
    """Take all of it back unless it was had in full, and no stock became something to tell of."""
    steady: LiteralString = "NOT EXISTS (SELECT FROM moved m WHERE NOT (" + STEADY + "))"
    return (
        "SELECT (SELECT count(*) FROM queued) AS queued WHERE take_back_unless("
        + _seated(entry)
        + " AND "
        + (steady if entry.moves else "true")
        + ")"
    )


def _seated(entry: Entry) -> LiteralString:
    return "EXISTS (SELECT FROM seated)" if entry.has_session else "true"
