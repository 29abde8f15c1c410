"""Statements that read debts. A list begins with the one that was opened last."""

from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.page import Page
from tillhouse.orders.debts.types import Debt, Debtor

_DEBT = """
    SELECT d.id, d.source_id AS order_id, o.short_code AS order_short_code, d.customer_id,
        c.name AS customer_name, d.status, d.balance, d.currency, iso(d.opened_at) AS opened_at,
        iso(d.closed_at) AS closed_at, iso(d.updated_at) AS updated_at
    FROM debts d
    JOIN orders o ON d.source_type = 'order' AND o.book_id = d.book_id AND o.id = d.source_id
    JOIN customers c ON c.book_id = d.book_id AND c.id = d.customer_id
    WHERE d.book_id = $1
"""


class DebtConditions(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on debts."""

    status: str | None = None
    customer_id: UUID | None = None
    order_id: UUID | None = None


def _where(book_id: UUID, wanted: DebtConditions) -> Where:
    return (
        Where(book_id)
        .and_("d.status = $", wanted.status)
        .and_("d.customer_id = $", wanted.customer_id)
        .and_("d.source_type = 'order' AND d.source_id = $", wanted.order_id)
    )


async def count_tallied(db: Db, book_id: UUID, status: str | None) -> int:
    """How many debts there are, of one status or of all, without counting them."""
    return await db.fetchval(
        """
        SELECT coalesce(sum(debts), 0)::bigint FROM debt_tallies
        WHERE book_id = $1 AND ($2::text IS NULL OR status = $2)
        """,
        book_id,
        status,
    )


async def count_debts(db: Db, book_id: UUID, wanted: DebtConditions) -> int:
    """How many debts of a customer or an order fit."""
    where = _where(book_id, wanted)
    return await db.fetchval(
        "SELECT count(*) FROM debts d WHERE d.book_id = $1" + where.sql(), *where.args
    )


async def list_debts(db: Db, book_id: UUID, wanted: DebtConditions, page: Page) -> list[Debt]:
    """One page of those that fit; only the rows of the page are looked up whole."""
    where = _where(book_id, wanted)
    rows = await db.fetch(
        _DEBT
        + " AND d.id IN (SELECT d.id FROM debts d WHERE d.book_id = $1"
        + where.sql()
        + " ORDER BY d.opened_at DESC, d.id DESC LIMIT "
        + where.window(page)
        + ") ORDER BY d.opened_at DESC, d.id DESC",
        *where.args,
    )
    return [_debt(row) for row in rows]


async def show_debt(db: Db, book_id: UUID, debt_id: UUID) -> Debt | None:
    """One debt."""
    row = await db.fetchrow(_DEBT + " AND d.id = $2", book_id, debt_id)
    return _debt(row) if row else None


def _debt(row: Record) -> Debt:
    known = dict(row)
    debtor = Debtor(known.pop("customer_id"), known.pop("customer_name"))
    return Debt(**known, customer=debtor)
