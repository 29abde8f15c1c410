"""Statements on single payment links and their payments."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, CustomerId

# $2 is now: a link that has expired by then reads so.
STATUS: LiteralString = """
    CASE WHEN l.status = 'active' AND l.expires_at <= $2 THEN 'EXPIRED' ELSE l.status END
"""
ASKED: LiteralString = """
    CASE WHEN l.status = 'active' THEN coalesce(d.balance, o.remaining_amount, s.asked, l.amount)
        ELSE l.amount END
"""
OUTSTANDING: LiteralString = """
    CASE WHEN l.status <> 'active' OR l.expires_at <= $2 THEN 0
        WHEN l.target_type = 'wallet' THEN greatest(l.amount - l.amount_received, 0)
        ELSE coalesce(d.balance, o.remaining_amount, s.asked) END
"""
TARGETS: LiteralString = """
    LEFT JOIN orders o ON l.target_type = 'sale' AND o.book_id = l.book_id AND o.id = l.target_id
    LEFT JOIN debts d ON l.target_type = 'debt' AND d.book_id = l.book_id AND d.id = l.target_id
    LEFT JOIN LATERAL (SELECT asked_of_stay(l.book_id, l.target_id) AS asked
        WHERE l.target_type = 'reservation' AND l.status = 'active') s ON true
"""
SHOWN: LiteralString = (
    """
    SELECT l.id, l.reference, l.target_type, l.target_id, l.title, l.description, l.currency,
        l.customer_id, l.customer_name, l.customer_email, l.customer_phone, l.redirect_url,
        l.is_reusable, l.is_static, l.amount_received, l.payments_count,
        l.conditions AS payment_condition, iso(l.expires_at) AS expires_at,
        iso(l.created_at) AS created_at, iso(l.updated_at) AS updated_at, """
    + STATUS
    + " AS status, "
    + ASKED
    + " AS amount, "
    + OUTSTANDING
    + " AS amount_outstanding "
)
"""The columns of a link `l` with its targets `o`, `d` and `s`."""

_ORDER: LiteralString = """
    SELECT o.id AS order_id, o.short_code, o.status::text AS status, o.currency, o.customer_id,
        CASE WHEN o.status IN ('cancelled', 'refunded') THEN 0
            ELSE o.remaining_amount END AS outstanding
    FROM orders o WHERE o.book_id = $1 AND o.id = $2 AND o.deleted_at IS NULL
"""
_DEBT: LiteralString = """
    SELECT o.id AS order_id, o.short_code, d.status, d.currency, d.customer_id,
        d.balance AS outstanding
    FROM orders o
    JOIN debts d ON d.book_id = o.book_id AND d.source_id = o.id AND d.source_type = 'order'
    WHERE d.book_id = $1 AND d.id = $2
"""
_STAY: LiteralString = """
    SELECT NULL::uuid AS order_id, r.short_code, r.status, r.currency, g.customer_id,
        asked_of_stay(r.book_id, r.id) AS outstanding
    FROM hotel_reservations r
    JOIN hotel_guests g ON g.book_id = r.book_id AND g.id = r.guest_id
    WHERE r.book_id = $1 AND r.id = $2
"""
_NEW: LiteralString = """
    INSERT INTO payment_links (book_id, id, reference, target_type, target_id, order_id, title,
        amount, currency, customer_id, customer_name, customer_email, customer_phone, description,
        redirect_url, status, expires_at, idempotency_key, idempotency_fingerprint, created_at,
        updated_at)
    SELECT $1, $3, $4, $5, $6, $7, $8, $9, $10, c.id, c.name, c.email, c.phone_number, $12,
        $13, 'active', $14, $15, $16, $2, $2
    FROM (VALUES ($11::uuid)) AS n (customer_id)
    LEFT JOIN customers c ON c.book_id = $1 AND c.id = n.customer_id
"""


class LinkRow(msgspec.Struct, frozen=True, kw_only=True):
    """A link as it is written."""

    id: UUID
    reference: str
    target_type: str
    target_id: UUID | None
    order_id: UUID | None
    title: str | None
    amount: object
    currency: str
    customer_id: CustomerId | None
    description: str
    redirect_url: str | None
    expires_at: datetime | None
    key: str | None
    fingerprint: bytes | None


async def find_order(db: Db, book_id: BookId, order_id: UUID) -> Record | None:
    """The amount that an order owes."""
    return await db.fetchrow(_ORDER, book_id, order_id)


async def lock_order(db: Db, book_id: BookId, order_id: UUID) -> Record | None:
    """The amount that an order owes; it stays so until the transaction ends."""
    return await db.fetchrow(_ORDER + " FOR SHARE OF o", book_id, order_id)


async def find_debt(db: Db, book_id: BookId, debt_id: UUID) -> Record | None:
    """The rest of a debt."""
    return await db.fetchrow(_DEBT, book_id, debt_id)


async def lock_debt(db: Db, book_id: BookId, debt_id: UUID) -> Record | None:
    """The rest of a debt; it stays so until the transaction ends."""
    return await db.fetchrow(_DEBT + " FOR SHARE OF o, d", book_id, debt_id)


async def find_stay(db: Db, book_id: BookId, reservation_id: UUID) -> Record | None:
    """The amount that a stay asks for."""
    return await db.fetchrow(_STAY, book_id, reservation_id)


async def find_earlier(db: Db, book_id: BookId, key: str) -> Record | None:
    """The link that a request with this idempotency key made, however long ago."""
    return await db.fetchrow(
        """
        SELECT id, idempotency_fingerprint AS fingerprint FROM payment_links
        WHERE book_id = $1 AND idempotency_key = $2
        """,
        book_id,
        key,
    )


async def upsert_link(
    db: Db, book_id: BookId, now: datetime, row: LinkRow, *, names_customer: bool
) -> Record:
    """A link of a target, or the active one that it has, with the fields that the request gives."""
    made = await db.fetchrow(
        "WITH l AS ("
        + _NEW
        + """
            ON CONFLICT (book_id, target_id, target_type)
                WHERE status = 'active' AND target_id IS NOT NULL
            DO UPDATE SET updated_at = EXCLUDED.updated_at,
                redirect_url = coalesce(EXCLUDED.redirect_url, payment_links.redirect_url),
                customer_id = CASE WHEN $17 THEN EXCLUDED.customer_id
                    ELSE payment_links.customer_id END,
                customer_name = CASE WHEN $17 THEN EXCLUDED.customer_name
                    ELSE payment_links.customer_name END,
                customer_email = CASE WHEN $17 THEN EXCLUDED.customer_email
                    ELSE payment_links.customer_email END,
                customer_phone = CASE WHEN $17 THEN EXCLUDED.customer_phone
                    ELSE payment_links.customer_phone END
            RETURNING *)
        """
        + SHOWN
        + "FROM l"
        + TARGETS,
        book_id,
        now,
        *msgspec.structs.astuple(row),
        names_customer,
    )
    assert made is not None, "it inserts or updates"  # noqa: S101
    return made


async def insert_link(db: Db, book_id: BookId, now: datetime, row: LinkRow) -> Record:
    """A link that has no target."""
    made = await db.fetchrow(
        "WITH l AS (" + _NEW + " RETURNING *)" + SHOWN + "FROM l" + TARGETS,
        book_id,
        now,
        *msgspec.structs.astuple(row),
    )
    assert made is not None, "it inserts"  # noqa: S101
    return made


async def show_link(db: Db, book_id: BookId, now: datetime, link_id: UUID) -> Record | None:
    """One link."""
    return await db.fetchrow(
        SHOWN + "FROM payment_links l" + TARGETS + " WHERE l.book_id = $1 AND l.id = $3",
        book_id,
        now,
        link_id,
    )


async def update_cancelled(db: Db, key: BookKey, now: datetime) -> None:
    """Stop a link from asking anybody to pay; one that is paid stays so."""
    await db.execute(
        """
        UPDATE payment_links SET status = 'CANCELLED', updated_at = $3
        WHERE book_id = $1 AND id = $2 AND status IN ('active', 'EXPIRED')
        """,
        *key,
        now,
    )


async def update_expired(db: Db, now: datetime, limit: int) -> Sequence[Record]:
    """Say of some links that they have expired, which they read as already."""
    return await db.fetch(
        """
        UPDATE payment_links l SET status = 'EXPIRED', updated_at = $1
        FROM (
            SELECT book_id, id FROM payment_links
            WHERE status = 'active' AND expires_at <= $1
            ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
        ) due
        WHERE l.book_id = due.book_id AND l.id = due.id
        RETURNING l.book_id
        """,
        now,
        limit,
    )
