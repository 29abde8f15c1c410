"""The statement of the counts: from tallies, and from indexes of open rows."""

from datetime import datetime

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId

# A part that isn't asked for is null, and nothing is read for it.
_COUNTS = """
    SELECT
        CASE WHEN 'orders' = ANY($2::text[]) THEN (
            SELECT json_build_object(
                'pending', coalesce(sum(k.orders) FILTER (WHERE k.status = 'pending'), 0),
                'scheduled', coalesce(sum(k.orders) FILTER (WHERE k.status = 'scheduled'), 0),
                'unpaid', coalesce(sum(k.orders)
                    FILTER (WHERE k.status IN ('pending', 'completed')
                        AND k.payment_status IN ('pending', 'partial')), 0))
            FROM (
                SELECT t.status, t.payment_status, t.orders FROM order_totals t
                WHERE t.book_id = $1
                UNION ALL
                SELECT c.status, c.payment_status, c.orders FROM order_tally_changes c
                WHERE c.book_id = $1
            ) k)::text END AS orders,
        CASE WHEN 'kitchen_tickets' = ANY($2) THEN (
            SELECT json_build_object(
                'queued', count(*) FILTER (WHERE t.status = 'queued'),
                'preparing', count(*) FILTER (WHERE t.status = 'preparing'),
                'ready', count(*) FILTER (WHERE t.status = 'ready'))
            FROM kitchen_tickets t
            WHERE t.book_id = $1 AND t.closed_at IS NULL AND t.status <> 'served'
        )::text END AS kitchen_tickets,
        CASE WHEN 'conversations' = ANY($2) THEN json_build_object(
            'waiting', (SELECT count(*) FROM conversations w
                WHERE w.book_id = $1 AND w.began_waiting_at IS NOT NULL),
            'unread', (SELECT coalesce(sum(k.conversations), 0) FROM (
                SELECT t.status, t.is_unread, t.conversations FROM conversation_tallies t
                WHERE t.book_id = $1
                UNION ALL
                SELECT c.status, c.is_unread, c.conversations FROM conversation_tally_changes c
                WHERE c.book_id = $1
            ) k WHERE k.is_unread AND k.status = 'open')
        )::text END AS conversations,
        CASE WHEN 'service_requests' = ANY($2) THEN json_build_object(
            'open', (SELECT count(*) FROM hotel_service_requests s
                WHERE s.book_id = $1 AND s.status = 'open'),
            'inProgress', (SELECT count(*) FROM hotel_service_requests s
                WHERE s.book_id = $1 AND s.status = 'in_progress')
        )::text END AS service_requests,
        CASE WHEN 'active_links' = ANY($2) THEN (
            SELECT coalesce(sum(t.links), 0)::bigint FROM payment_link_tallies t
            WHERE t.book_id = $1 AND t.status = 'active'
        ) - (
            -- Of those that have expired no sweep has said so yet.
            SELECT count(*) FROM payment_links l
            WHERE l.book_id = $1 AND l.status = 'active' AND l.expires_at <= $3
        ) END AS active_links,
        CASE WHEN 'products_out_of_stock' = ANY($2) THEN (
            SELECT count(DISTINCT v.product_id) FROM variants v
            JOIN products p ON p.book_id = v.book_id AND p.id = v.product_id
            WHERE v.book_id = $1 AND v.tracks_stock AND v.is_active AND v.deleted_at IS NULL
                AND p.is_active AND p.deleted_at IS NULL
                AND NOT EXISTS (
                    SELECT FROM stock_levels l
                    WHERE l.book_id = $1 AND l.variant_id = v.id AND l.on_hand > l.reserved)
        ) END AS products_out_of_stock,
        CASE WHEN 'disputes_due' = ANY($2) THEN (
            SELECT count(*) FROM disputes d WHERE d.book_id = $1 AND d.status = 'evidence_due'
        ) END AS disputes_due,
        CASE WHEN 'failing_endpoints' = ANY($2) THEN (
            SELECT count(*) FROM webhook_endpoints e
            WHERE e.book_id = $1 AND e.status = 'active' AND e.failure_count >= 3
        ) END AS failing_endpoints
"""


async def find_counts(db: Db, book_id: BookId, names: list[str], now: datetime) -> Record:
    """The counts of these names, each that isn't asked for as null."""
    row = await db.fetchrow(_COUNTS, book_id, names, now)
    assert row is not None, "a SELECT without FROM is a row"  # noqa: S101
    return row
