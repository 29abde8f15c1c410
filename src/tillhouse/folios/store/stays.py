"""Statements on a stay as its folio needs it: the reservation, its nights and its orders."""

from datetime import date, datetime
from typing import LiteralString
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.folios.facts import DisputeRow, FolioRows, OrderRow, PaymentRow, ReturnRow, Stay
from tillhouse.folios.rules import Moved, StayOrder, Use
from tillhouse.kit.ids import BookId, BookKey, OrderId

# Guest, room and type are no joins: a lock that waited for another one, or for a move, would find
# the old ones only, so none.
_STAY: LiteralString = """
    SELECT r.id, r.short_code, r.status, r.room_id,
        (SELECT g.customer_id FROM hotel_guests g
            WHERE g.book_id = r.book_id AND g.id = r.guest_id) AS customer_id,
        (SELECT o.number FROM hotel_rooms o
            WHERE o.book_id = r.book_id AND o.id = r.room_id) AS room_number,
        (SELECT t.name FROM hotel_room_types t
            WHERE t.book_id = r.book_id AND t.id = r.room_type_id) AS room_type,
        r.check_in_on, r.check_out_on, r.nights::text AS nights,
        r.taxes::text AS taxes, r.currency, r.deposit_amount, u.time_zone,
        CASE WHEN k.closed_until IS NOT NULL AND EXISTS (SELECT FROM folio_payments p
                WHERE p.book_id = r.book_id AND p.reservation_id = r.id AND p.kind = 'payment'
                    AND p.happened_at < k.closed_until)
            THEN (k.closed_until AT TIME ZONE u.time_zone)::date - 1 END AS closed_on
    FROM hotel_reservations r
    JOIN books k ON k.id = r.book_id
    JOIN businesses u ON u.id = k.business_id
    WHERE r.book_id = $1 AND r.id = $2
"""
_ORDERS: LiteralString = """
    SELECT o.id, o.short_code, o.summary, o.total_amount, o.amount_paid,
        o.payment_method AS method, o.customer_id, o.change_amount, o.refunded_amount,
        o.credit_amount, o.remaining_amount, iso(o.occurred_at) AS occurred_at,
        CASE WHEN o.deleted_at IS NULL THEN o.status ELSE 'deleted' END AS status,
        (SELECT n.night_on FROM folio_nights n
            WHERE n.book_id = o.book_id AND n.order_id = o.id) AS night,
        (SELECT coalesce(sum(s.amount), 0) FROM folio_uses s
            WHERE s.book_id = o.book_id AND s.reservation_id = o.hotel_reservation_id
                AND s.order_id = o.id) AS used
    FROM orders o WHERE o.book_id = $1 AND o.hotel_reservation_id = $2
    ORDER BY o.occurred_at, o.id
"""

_PAYMENTS: LiteralString = """
    SELECT p.id, p.customer_id, p.kind, p.amount, p.method, p.reference, p.reason,
        p.link_id AS payment_link_id, p.transaction_id, iso(p.happened_at) AS at,
        json_build_object('id', p.recorded_by_id, 'name', p.recorded_by_name) AS by
    FROM folio_payments p WHERE p.book_id = $1 AND p.reservation_id = $2 ORDER BY p.id
"""
_MOVED: LiteralString = """
    SELECT p.customer_id, p.kind, sum(p.amount) AS amount FROM folio_payments p
    WHERE p.book_id = $1 AND p.reservation_id = $2 GROUP BY p.customer_id, p.kind
    UNION ALL
    SELECT u.customer_id, 'use', sum(u.amount) FROM folio_uses u
    WHERE u.book_id = $1 AND u.reservation_id = $2 GROUP BY u.customer_id
    UNION ALL
    SELECT b.customer_id, 'returning', sum(b.amount) FROM folio_returns b
    WHERE b.book_id = $1 AND b.reservation_id = $2 AND b.status = 'pending'
    GROUP BY b.customer_id
    UNION ALL
    SELECT f.customer_id, 'disputed', sum(h.amount) FROM folio_payments f
    JOIN disputes d ON d.book_id = f.book_id AND d.payin_id = f.receipt_id
    JOIN ledger_holds h ON h.book_id = d.book_id AND h.id = d.credit_hold_id
    WHERE f.book_id = $1 AND f.reservation_id = $2 AND f.kind = 'payment'
    GROUP BY f.customer_id
"""
_RETURNS: LiteralString = """
    SELECT b.id, b.status, b.amount, b.provider, b.provider_refund_id, b.payment_id, b.reason,
        b.failure_reason, iso(b.created_at) AS at,
        json_build_object('id', b.recorded_by_id, 'name', b.recorded_by_name) AS by
    FROM folio_returns b WHERE b.book_id = $1 AND b.reservation_id = $2 ORDER BY b.id
"""
_DISPUTES: LiteralString = """
    SELECT d.id, d.status, d.amount, d.taken_amount, d.fee,
        iso(d.evidence_due_at) AS evidence_due_by, iso(d.opened_at) AS opened_at,
        coalesce(h.amount, 0) AS held
    FROM folio_payments f
    JOIN disputes d ON d.book_id = f.book_id AND d.payin_id = f.receipt_id
    LEFT JOIN ledger_holds h ON h.book_id = d.book_id AND h.id = d.credit_hold_id
    WHERE f.book_id = $1 AND f.reservation_id = $2 AND f.kind = 'payment' ORDER BY d.id
"""


async def find_stay(db: Db, key: BookKey) -> Stay | None:
    """A stay; None if there is none."""
    row = await db.fetchrow(_STAY, *key)
    return Stay(**row) if row else None


async def lock_stay(db: Db, key: BookKey) -> Stay | None:
    """A stay as it is until the transaction ends: nothing is charged to it meanwhile."""
    row = await db.fetchrow(_STAY + " FOR NO KEY UPDATE OF r", *key)
    return Stay(**row) if row else None


async def find_folio(db: Db, key: BookKey) -> FolioRows | None:
    """A stay with its orders and its payments, of one moment; None if there is none."""
    row = await db.fetchrow(
        "SELECT s.*, (SELECT json_agg(c) FROM ("
        + _ORDERS
        + ") c) AS orders, (SELECT json_agg(p) FROM ("
        + _PAYMENTS
        + ") p) AS payments, (SELECT json_agg(b) FROM ("
        + _RETURNS
        + ") b) AS returns, (SELECT json_agg(d) FROM ("
        + _DISPUTES
        + ") d) AS disputes, (SELECT json_agg(m) FROM ("
        + _MOVED
        + ") m) AS moved FROM ("
        + _STAY
        + ") s",
        *key,
    )
    if row is None:
        return None
    fields = dict(row)
    names = ("orders", "payments", "returns", "disputes", "moved")
    orders, payments, returns, disputes, moved = (fields.pop(name) for name in names)
    return FolioRows(
        stay=Stay(**fields),
        orders=msgspec.json.decode(orders or "[]", type=list[OrderRow]),
        payments=msgspec.json.decode(payments or "[]", type=list[PaymentRow]),
        returns=msgspec.json.decode(returns or "[]", type=list[ReturnRow]),
        disputes=msgspec.json.decode(disputes or "[]", type=list[DisputeRow]),
        moved=msgspec.json.decode(moved or "[]", type=list[Moved]),
    )


async def lock_orders(db: Db, key: BookKey) -> list[StayOrder]:
    """The orders of a stay, the oldest first, until the transaction ends; deleted ones too."""
    rows = await db.fetch(_ORDERS + " FOR NO KEY UPDATE OF o", *key)
    return [OrderRow(**row).seen for row in rows]


async def list_posted_nights(db: Db, key: BookKey) -> set[date]:
    """The nights of a stay that are orders."""
    rows = await db.fetch(
        "SELECT night_on FROM folio_nights WHERE book_id = $1 AND reservation_id = $2", *key
    )
    return {row["night_on"] for row in rows}


async def lock_moment(db: Db, book_id: BookId, moment: datetime, now: datetime) -> datetime:
    """The moment by which a past one is booked; a closing waits for this transaction."""
    return await db.fetchval(
        """
        SELECT CASE WHEN $2::timestamptz < b.closed_until THEN $3::timestamptz ELSE $2 END
        FROM books b WHERE b.id = $1 FOR SHARE
        """,
        book_id,
        moment,
        now,
    )


async def insert_night(db: Db, key: BookKey, night: date, order_id: OrderId) -> None:
    """Say which order a night has become."""
    await db.execute(
        """
        INSERT INTO folio_nights (book_id, reservation_id, night_on, order_id)
        VALUES ($1, $2, $3, $4)
        """,
        *key,
        night,
        order_id,
    )


async def list_moved(db: Db, key: BookKey) -> list[Moved]:
    """The sums of a stay's payments, its refunds and the uses for its orders."""
    rows = await db.fetch(_MOVED, *key)
    return [Moved(**row) for row in rows]


async def insert_use(db: Db, key: BookKey, payment_id: UUID, use: Use, now: datetime) -> None:
    """Say that a payment of an order took so much of a customer's money."""
    await db.execute(
        """
        INSERT INTO folio_uses (book_id, reservation_id, payment_id, order_id, customer_id, amount,
            created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """,
        *key,
        payment_id,
        use.order_id,
        use.customer_id,
        use.amount,
        now,
    )
