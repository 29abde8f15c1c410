"""Statements on one page of transactions, and on one of them."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import NEAR, Where, is_near
from tillhouse.finance.transactions.store.counting import Days
from tillhouse.finance.transactions.store.query import (
    TransactionQuery,
    and_dates,
    and_kinds,
    fixed,
    picked,
)
from tillhouse.kit.ids import BookId
from tillhouse.kit.page import Page

_COLUMNS: LiteralString = """
    SELECT t.id, t.reference, t.type, t.status, t.method, t.amount, t.currency, t.customer_id,
        c.name AS customer, c.email AS customer_email, c.phone_number AS customer_phone,
        t.happened_at, t.store_id, o.id AS order_id, o.short_code AS order_short_code,
        CASE WHEN t.source_type = 'expense' THEN t.source_id END AS expense_id,
        CASE WHEN t.source_type = 'dispute' THEN t.source_id END AS dispute_id,
        iso(t.created_at) AS created_at, iso(t.updated_at) AS updated_at,
        u.time_zone, coalesce(g.change_amount, 0) AS change_amount,
        l.id AS payment_link_id, l.reference AS payment_link_reference,
        i.provider, i.amount AS gross, i.fee, i.returned_fee, i.currency AS provider_currency
    FROM """
_JOINED: LiteralString = """
    JOIN books k ON k.id = t.book_id
    JOIN businesses u ON u.id = k.business_id
    LEFT JOIN customers c ON c.book_id = t.book_id AND c.id = t.customer_id
    LEFT JOIN payins s ON t.source_type = 'payin' AND s.book_id = t.book_id AND s.id = t.source_id
    LEFT JOIN virtual_accounts v ON v.book_id = s.book_id AND v.id = s.virtual_account_id
    LEFT JOIN disputes d ON t.source_type = 'dispute' AND d.book_id = t.book_id
        AND d.id = t.source_id
    LEFT JOIN orders o ON o.book_id = t.book_id AND o.id = CASE t.source_type
        WHEN 'order' THEN t.source_id WHEN 'payin' THEN v.order_id WHEN 'dispute' THEN d.order_id
        END
    LEFT JOIN payments g ON t.source_type = 'order' AND g.book_id = t.book_id
        AND g.order_id = t.source_id AND g.transaction_id = t.id AND t.type <> 'tip'
    LEFT JOIN payins i ON i.book_id = t.book_id AND i.transaction_id = t.id
    LEFT JOIN payment_links l ON i.target_type = 'payment_link' AND l.book_id = i.book_id
        AND l.id = i.target_id
"""
_NEWEST: LiteralString = " ORDER BY o.happened_at DESC, o.id DESC"
# The page comes first: nothing is joined to more than its transactions.
_PAGE: LiteralString = _COLUMNS + "(SELECT o.id FROM "
_SHOWN: LiteralString = (
    ") page JOIN transactions t ON t.book_id = $1 AND t.id = page.id"
    + _JOINED
    + "ORDER BY t.happened_at DESC, t.id DESC"
)


async def list_newest(
    db: Db, book_id: BookId, query: TransactionQuery, page: Page
) -> Sequence[Record]:
    """One page that is near the newest, of all kinds: scanned to."""
    where = and_dates(Where(book_id, page.per_page, page.offset), query)
    rows: LiteralString = "transactions o WHERE o.book_id = $1 AND o.is_told" + where.sql()
    if is_near(page) and not where.sql():
        rows = "(SELECT o.id, o.happened_at FROM " + rows + _NEWEST + NEAR + ") o"
    return await db.fetch(_PAGE + rows + _NEWEST + " LIMIT $2 OFFSET $3" + _SHOWN, *where.args)


async def list_within(
    db: Db, book_id: BookId, query: TransactionQuery, page: Page, days: Days
) -> Sequence[Record]:
    """One page of which the days are known that hold it."""
    fixed = Where(book_id, page.per_page, days.skipped, days.begins, days.ends)
    where = and_dates(and_kinds(fixed, query), query)
    return await db.fetch(
        _PAGE
        + """(
            SELECT w.id, w.happened_at
            FROM unnest($4::timestamptz[], $5::timestamptz[]) AS s (begins, ends)
            CROSS JOIN LATERAL (
                SELECT o.id, o.happened_at FROM transactions o
                WHERE o.book_id = $1 AND o.is_told AND o.happened_at >= s.begins
                    AND o.happened_at < s.ends"""
        + where.sql()
        + _NEWEST
        # Each day by itself, and no more of it than the page may need.
        + """ LIMIT $2::bigint + $3::bigint) w
        ) o"""
        + _NEWEST
        + " LIMIT $2 OFFSET $3"
        + _SHOWN,
        *where.args,
    )


async def list_found(
    db: Db, book_id: BookId, query: TransactionQuery, page: Page
) -> Sequence[Record]:
    """One page of those of a customer, or that a search finds."""
    where = and_dates(and_kinds(fixed(book_id, query), query), query)
    return await db.fetch(
        picked(query)
        + _PAGE
        + "picked o WHERE o.is_told"
        + where.sql()
        + _NEWEST
        + " LIMIT "
        + where.window(page)
        + _SHOWN,
        *where.args,
    )


async def find_cause(db: Db, book_id: BookId, transaction_id: UUID) -> Record | None:
    """The payment or the withdrawal that a transaction came by; None: it came by no provider."""
    return await db.fetchrow(
        """
        SELECT k.business_id, p.id AS payin_id, p.provider, p.target_type, p.target_id,
            w.id AS withdrawal_id
        FROM transactions t
        JOIN books k ON k.id = t.book_id
        LEFT JOIN LATERAL (
            SELECT p.id, p.provider, p.target_type, p.target_id FROM payins p
            WHERE p.book_id = $1 AND p.transaction_id = t.id
            UNION
            SELECT p.id, p.provider, p.target_type, p.target_id FROM payins p
            WHERE p.book_id = $1 AND p.id = t.source_id AND t.source_type = 'payin'
            LIMIT 1
        ) p ON true
        LEFT JOIN refunds f ON f.book_id = $1 AND f.order_id = t.source_id
            AND f.transaction_id = t.id AND t.source_type = 'order'
        LEFT JOIN withdrawals w ON w.book_id = $1 AND w.id = CASE t.source_type
            WHEN 'withdrawal' THEN t.source_id WHEN 'order' THEN f.withdrawal_id END
        WHERE t.book_id = $1 AND t.id = $2 AND (p.id IS NOT NULL OR w.id IS NOT NULL)
        """,
        book_id,
        transaction_id,
    )


async def show_transaction(db: Db, book_id: BookId, transaction_id: UUID) -> Record | None:
    """One transaction."""
    return await db.fetchrow(
        _COLUMNS + "transactions t" + _JOINED + "WHERE t.book_id = $1 AND t.id = $2",
        book_id,
        transaction_id,
    )
