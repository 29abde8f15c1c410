"""Statements on payments of links."""

from datetime import datetime
from decimal import Decimal

from asyncpg import Record

from tillhouse.checkout.receiving_rules import LinkPayment
from tillhouse.checkout.store.links import ASKED, STATUS, TARGETS
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookKey


async def find_link(db: Db, key: BookKey) -> Record | None:
    """The parts of a link that never change, and its business."""
    return await db.fetchrow(
        """
        SELECT l.order_id, l.target_type, l.target_id, l.currency, k.environment, k.business_id
        FROM payment_links l JOIN books k ON k.id = l.book_id
        WHERE l.book_id = $1 AND l.id = $2
        """,
        *key,
    )


async def lock_link(db: Db, key: BookKey, now: datetime) -> Record:
    """A link as it stands, until the transaction ends."""
    [row] = await db.fetch(
        """
        SELECT l.id, l.reference, l.target_type, l.target_id, l.order_id, l.currency,
            l.customer_id, l.customer_name, l.customer_email, l.customer_phone,
            l.amount_received, l.payments_count, l.status AS stored_status,
            CASE WHEN l.target_type = 'reservation'
                THEN asked_of_stay(l.book_id, l.target_id) END AS asked,
        """
        + STATUS
        + " AS status, "
        + ASKED
        + " AS amount FROM payment_links l"
        + TARGETS
        + " WHERE l.book_id = $1 AND l.id = $3 FOR NO KEY UPDATE OF l",
        key.book_id,
        now,
        key.id,
    )
    return row


async def update_received(db: Db, key: BookKey, now: datetime, received: LinkPayment) -> None:
    """Count a payment."""
    await db.execute(
        """
        UPDATE payment_links SET amount_received = amount_received + $4,
            payments_count = payments_count + 1, last_paid_at = $3, updated_at = $3,
            conditions = ARRAY(SELECT DISTINCT unnest(conditions || $5::text[]) ORDER BY 1),
            status = CASE WHEN $6 THEN 'PAID' ELSE status END,
            amount = CASE WHEN $6 THEN coalesce($7, amount) ELSE amount END
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        now,
        received.amount,
        list(received.conditions),
        received.is_paid,
        received.asked,
    )


async def update_reversed(
    db: Db, key: BookKey, left: Decimal, status: str, payments: int, now: datetime
) -> None:
    """Uncount a return: the rest of all, the status since, how many are left."""
    await db.execute(
        """
        UPDATE payment_links SET amount_received = $4, status = $5, updated_at = $3,
            payments_count = $6,
            conditions = ARRAY(SELECT DISTINCT unnest(conditions || '{reversed}') ORDER BY 1)
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        now,
        left,
        status,
        payments,
    )
