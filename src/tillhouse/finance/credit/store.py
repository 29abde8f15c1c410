"""The credit of a customer, and the statement that reads it."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, CustomerId


class CustomerCredit(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The amount that a customer has to come."""

    customer_id: UUID
    currency: str
    credit_balance: Decimal
    """The credit of the customer, in the currency beside it."""
    held: Decimal
    """The part of it that is spoken for."""
    available: Decimal
    """The part of it that can be spent."""


async def show_credit(
    db: Db, book_id: BookId, customer_id: CustomerId, now: datetime
) -> CustomerCredit | None:
    """The credit of a customer; holds whose time is over no longer count."""
    row = await db.fetchrow(
        """
        SELECT c.id AS customer_id, u.currency,
            coalesce(b.credits - b.debits, 0) AS credit_balance,
            coalesce(b.held, 0) - h.over AS held,
            coalesce(b.credits - b.debits - b.held, 0) + h.over AS available
        FROM customers c
        JOIN books k ON k.id = c.book_id
        JOIN businesses u ON u.id = k.business_id
        LEFT JOIN ledger_balances b ON b.book_id = c.book_id AND b.kind = 'customer_credit'
            AND b.owner_id = c.id
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(d.amount), 0) AS over FROM ledger_holds d
            WHERE d.book_id = c.book_id AND d.account_kind = 'customer_credit'
                AND d.account_owner = c.id AND d.status = 'pending' AND d.expires_at <= $3
        ) h
        WHERE c.book_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
        """,
        book_id,
        customer_id,
        now,
    )
    return CustomerCredit(**row) if row else None
