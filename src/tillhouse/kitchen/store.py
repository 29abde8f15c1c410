"""Statements on kitchen tickets and on the messages about their stages."""

from datetime import datetime
from typing import Any, LiteralString

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import PAGE_BYTES, Where, weighed
from tillhouse.kit.ids import BookId, BookKey, OrderId, TicketId
from tillhouse.kit.page import Page
from tillhouse.kitchen.types import (
    Stage,
    StageMessage,
    StageTemplate,
    TicketFilter,
    TicketShown,
)

# The tickets of new orders: a brick for the statement that inserts the orders. It reads the CTE
# `ticketing` of the statement around it, with the columns (id, order_id, at), and $1 = book_id.
QUEUE: LiteralString = """
    ticket AS (
        INSERT INTO kitchen_tickets (book_id, id, order_id, status, queued_at, updated_at)
        SELECT $1, id, order_id, 'queued', at, at FROM ticketing
    )
"""


async def insert_ticket(
    db: Db, key: BookKey, order_id: OrderId, station: str, now: datetime
) -> bool:
    """A new ticket at the first stage; False when the order has one at that station."""
    return await db.execute_one(
        """
        INSERT INTO kitchen_tickets (book_id, id, order_id, station, status, queued_at,
            updated_at)
        VALUES ($1, $2, $3, $4, 'queued', $5, $5)
        ON CONFLICT (book_id, order_id, station) DO NOTHING
        """,
        *key,
        order_id,
        station,
        now,
    )


async def update_stage(
    db: Db, book_id: BookId, ticket_id: TicketId, stage: Stage, now: datetime
) -> Record | None:
    """Move a ticket unless it is there or closed; how it stood before, None without a ticket.

    Of two boards at once the second waits for the first, then sees where the ticket is.
    """
    return await db.fetchrow(
        """
        WITH old AS (
            SELECT t.id, t.order_id, t.station, t.status, t.closed_at IS NOT NULL AS is_closed
            FROM kitchen_tickets t WHERE t.book_id = $1 AND t.id = $2
            FOR NO KEY UPDATE
        ), moved AS (
            UPDATE kitchen_tickets t SET status = $3, updated_at = $4::timestamptz,
                queued_at = CASE WHEN $3 = 'queued' THEN $4::timestamptz ELSE t.queued_at END,
                preparing_at = CASE WHEN $3 = 'preparing' THEN $4::timestamptz
                    ELSE t.preparing_at END,
                ready_at = CASE WHEN $3 = 'ready' THEN $4::timestamptz ELSE t.ready_at END,
                served_at = CASE WHEN $3 = 'served' THEN $4::timestamptz ELSE t.served_at END
            FROM old
            WHERE t.book_id = $1 AND t.id = $2 AND old.status <> $3 AND NOT old.is_closed
            RETURNING t.id
        )
        SELECT old.id, old.order_id, old.station, old.status, old.is_closed, o.store_id,
            EXISTS (SELECT FROM moved) AS is_moved
        FROM old JOIN orders o ON o.book_id = $1 AND o.id = old.order_id
        """,
        book_id,
        ticket_id,
        stage,
        now,
    )


async def end_tickets(db: Db, book_id: BookId, order_id: OrderId, now: datetime) -> None:
    """Close the tickets of an order."""
    await db.execute(
        """
        UPDATE kitchen_tickets SET closed_at = $3, updated_at = $3
        WHERE book_id = $1 AND order_id = $2 AND closed_at IS NULL
        """,
        book_id,
        order_id,
        now,
    )


async def open_tickets(db: Db, book_id: BookId, order_id: OrderId, now: datetime) -> None:
    """Take the tickets of an order onto the board again."""
    await db.execute(
        """
        UPDATE kitchen_tickets SET closed_at = NULL, updated_at = $3
        WHERE book_id = $1 AND order_id = $2 AND closed_at IS NOT NULL
        """,
        book_id,
        order_id,
        now,
    )


async def find_ticket(db: Db, book_id: BookId, order_id: OrderId, station: str) -> Record | None:
    """The ticket of an order at a station."""
    return await db.fetchrow(
        """
        SELECT id, order_id, station, status, closed_at IS NOT NULL AS is_closed
        FROM kitchen_tickets WHERE book_id = $1 AND order_id = $2 AND station = $3
        """,
        book_id,
        order_id,
        station,
    )


async def find_telling(
    db: Db, book_id: BookId, stage: Stage, purpose: str, phone: str | None
) -> Record | None:
    """Facts that decide whether a customer is messaged: the text, the number, earlier messages."""
    return await db.fetchrow(
        """
        SELECT coalesce(s.is_sent, false) AS is_enabled, coalesce(s.text, '') AS text,
            s.template_name, s.template_language, n.id AS number_id, n.provider,
            c.last_received_at,
            EXISTS (SELECT FROM messages m WHERE m.book_id = $1 AND m.purpose = $3) AS was_told
        FROM books b
        LEFT JOIN stage_messages s ON s.book_id = b.id AND s.stage = $2
        LEFT JOIN messaging_numbers n ON n.book_id = b.id AND n.status = 'active'
        LEFT JOIN conversations c ON c.book_id = b.id AND c.customer_phone = $4
        WHERE b.id = $1
        """,
        book_id,
        stage,
        purpose,
        phone,
    )


_TICKET: LiteralString = """
    SELECT t.id, t.order_id, o.short_code, t.station, t.status, o.summary, o.notes, o.store_id,
        o.table_label, o.service_mode, u.name AS customer_name,
        (SELECT json_agg(json_build_object('productName', i.product_name, 'variantName',
                i.variant_name, 'quantity', i.quantity, 'modifiers', (
                    SELECT coalesce(json_agg(m ->> 'name'), '[]')
                    FROM jsonb_array_elements(i.modifiers) m))
            ORDER BY i.position)
        FROM order_items i
        WHERE i.book_id = t.book_id AND i.order_id = t.order_id AND i.line_type = 'product'
        ) AS items,
        greatest(0, extract(epoch FROM (
            CASE WHEN t.closed_at IS NOT NULL THEN t.closed_at
                WHEN t.status = 'served' THEN t.served_at ELSE $2 END
            - CASE t.status WHEN 'preparing' THEN t.preparing_at WHEN 'ready' THEN t.ready_at
                WHEN 'served' THEN t.served_at ELSE t.queued_at END))::bigint
        ) AS seconds_in_stage,
        iso(t.queued_at) AS queued_at, iso(t.preparing_at) AS preparing_at,
        iso(t.ready_at) AS ready_at, iso(t.served_at) AS served_at,
        iso(t.closed_at) AS closed_at, iso(t.updated_at) AS updated_at
    FROM kitchen_tickets t
    JOIN orders o ON o.book_id = t.book_id AND o.id = t.order_id
    LEFT JOIN customers u ON u.book_id = o.book_id AND u.id = o.customer_id
    WHERE t.book_id = $1
"""
_OPEN: LiteralString = " AND t.closed_at IS NULL AND t.status <> 'served'"


def _ticket(row: Record) -> TicketShown:
    fields: dict[str, Any] = dict(row)
    fields.pop(PAGE_BYTES, None)
    # JSON already: it passes as it is.
    fields["items"] = msgspec.Raw((row["items"] or "[]").encode())
    return TicketShown(**fields)


def _narrowed(where: Where, wanted: TicketFilter) -> Where:
    return (
        where.and_("t.status = ANY($::text[])", wanted.status)
        .and_("t.station = $", wanted.station)
        .and_("o.store_id = $", wanted.store_id)
    )


async def list_open(
    db: Db, book_id: BookId, now: datetime, wanted: TicketFilter, page: Page
) -> list[TicketShown]:
    """The open tickets, the oldest first."""
    where = _narrowed(Where(book_id, now), wanted)
    rows = await db.fetch(
        weighed(
            _TICKET
            + _OPEN
            + where.sql()
            + " ORDER BY t.queued_at, t.id LIMIT "
            + where.window(page),
            "items",
        ),
        *where.args,
    )
    return [_ticket(row) for row in rows]


async def list_history(
    db: Db, book_id: BookId, now: datetime, wanted: TicketFilter, page: Page
) -> list[TicketShown]:
    """Every ticket there was, the newest first."""
    where = _narrowed(Where(book_id, now), wanted)
    rows = await db.fetch(
        weighed(
            _TICKET
            + where.sql()
            + " ORDER BY t.queued_at DESC, t.id DESC LIMIT "
            + where.window(page),
            "items",
        ),
        *where.args,
    )
    return [_ticket(row) for row in rows]


_COUNT: LiteralString = """
    SELECT count(*) FROM kitchen_tickets t
    JOIN orders o ON o.book_id = t.book_id AND o.id = t.order_id
    WHERE t.book_id = $1
"""


async def count_open(db: Db, book_id: BookId, wanted: TicketFilter) -> int:
    """How many tickets the kitchen has to do."""
    where = _narrowed(Where(book_id), wanted)
    return await db.fetchval(_COUNT + _OPEN + where.sql(), *where.args)


async def count_history(db: Db, book_id: BookId, wanted: TicketFilter) -> int:
    """How many tickets there were."""
    where = _narrowed(Where(book_id), wanted)
    return await db.fetchval(_COUNT + where.sql(), *where.args)


async def show_ticket(
    db: Db, book_id: BookId, now: datetime, ticket_id: TicketId
) -> TicketShown | None:
    """One ticket."""
    row = await db.fetchrow(_TICKET + " AND t.id = $3", book_id, now, ticket_id)
    return _ticket(row) if row else None


async def list_stage_messages(db: Db, book_id: BookId) -> list[StageMessage]:
    """The texts of the stages that have one."""
    rows = await db.fetch(
        """
        SELECT stage, is_sent, text, template_name, template_language,
            iso(updated_at) AS updated_at
        FROM stage_messages WHERE book_id = $1
        """,
        book_id,
    )
    return [_message(row) for row in rows]


def _message(row: Record) -> StageMessage:
    fields: dict[str, Any] = dict(row)
    name, language = fields.pop("template_name"), fields.pop("template_language")
    template = StageTemplate(name, language) if name else None
    return StageMessage(template=template, **fields)


class StageRow(msgspec.Struct, frozen=True):
    """The text of one stage, as it is written."""

    stage: str
    is_sent: bool
    text: str
    template_name: str | None
    template_language: str | None


async def upsert_stage_messages(
    db: Db, book_id: BookId, rows: list[StageRow], now: datetime
) -> None:
    """Set the messages of some stages."""
    await db.execute(
        """
        INSERT INTO stage_messages (book_id, stage, is_sent, text, template_name,
            template_language, updated_at)
        SELECT $1, stage, is_sent, text, template_name, template_language, $3
        FROM json_to_recordset($2) AS r (stage text, is_sent boolean, text text,
            template_name text, template_language text)
        ORDER BY stage
        ON CONFLICT (book_id, stage) DO UPDATE SET is_sent = excluded.is_sent,
            text = excluded.text, template_name = excluded.template_name,
            template_language = excluded.template_language, updated_at = excluded.updated_at
        """,
        book_id,
        msgspec.json.encode(rows).decode(),
        now,
    )
