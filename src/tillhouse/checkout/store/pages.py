"""Statements on payment links as their pages show them: found by the reference alone."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString

from asyncpg import Record

from tillhouse.checkout.store.links import ASKED, OUTSTANDING, STATUS, TARGETS
from tillhouse.db.pool import Db

_ACCOUNT: LiteralString = """
    LEFT JOIN LATERAL (
        SELECT v.* FROM virtual_accounts v
        WHERE v.book_id = l.book_id AND v.target_type = 'payment_link' AND v.target_id = l.id
        ORDER BY v.created_at DESC, v.id DESC LIMIT 1
    ) v ON true
"""
_VERSION: LiteralString = (
    "concat_ws('.', "
    + STATUS
    + ", extract(epoch FROM l.updated_at), extract(epoch FROM v.updated_at), "
    + OUTSTANDING
    + ") AS version"
)


async def find_page(db: Db, reference: str, now: datetime) -> Record | None:
    """All facts of the page of a link; of the customer only those for a provider."""
    return await db.fetchrow(
        """
        SELECT l.book_id, l.id, l.reference, l.target_type, l.order_id, l.title, l.description,
            l.currency, l.redirect_url, l.customer_email, l.expires_at, l.amount_received,
            l.payments_count,
            l.conditions, l.last_paid_at, k.environment, u.name AS merchant, u.time_zone,
            coalesce(o.total_amount, 0) AS total, coalesce(o.amount_paid, 0) AS paid,
            v.id AS account_id, v.status AS account_status, v.account_number, v.bank_name,
            v.account_name, v.url AS account_url, v.amount AS account_amount,
            v.expires_at AS account_expires_at, v.error AS account_error,
        """
        + STATUS
        + " AS status, "
        + ASKED
        + " AS amount, "
        + OUTSTANDING
        + " AS outstanding, "
        + _VERSION
        + " FROM payment_links l"
        + TARGETS
        + """
        JOIN books k ON k.id = l.book_id
        JOIN businesses u ON u.id = k.business_id
        """
        + _ACCOUNT
        + " WHERE l.reference = $1",
        reference,
        now,
    )


async def list_versions(db: Db, references: Sequence[str], now: datetime) -> Sequence[Record]:
    """Where links stand, as one word that differs when a page would."""
    return await db.fetch(
        "SELECT l.reference, "
        + _VERSION
        + " FROM payment_links l"
        + TARGETS
        + _ACCOUNT
        + " WHERE l.reference = ANY($1)",
        list(references),
        now,
    )
