"""Statements that read withdrawals."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId
from tillhouse.kit.page import Page

_WITHDRAWAL: LiteralString = """
    SELECT w.id, w.status, w.amount, w.fee, w.amount_due + w.fee_due AS due, w.currency,
        w.narration, w.reference,
        w.payout_account_id, w.account_version, w.bank_code, w.bank_name, w.account_number,
        w.account_name, w.provider, w.provider_reference, w.failure_reason, w.order_id,
        w.transaction_id, w.requested_by_id, w.requested_by_name, iso(w.sent_at) AS sent_at,
        iso(w.ended_at) AS ended_at, iso(w.created_at) AS created_at,
        iso(w.updated_at) AS updated_at
    FROM withdrawals w WHERE w.book_id = $1
"""


def _where(book_id: BookId, statuses: Sequence[str] | None, account_id: UUID | None) -> Where:
    return (
        Where(book_id)
        .and_("w.status = ANY($)", statuses)
        .and_("w.payout_account_id = $", account_id)
    )


async def show_withdrawal(db: Db, book_id: BookId, withdrawal_id: UUID) -> Record | None:
    """One withdrawal."""
    return await db.fetchrow(_WITHDRAWAL + " AND w.id = $2", book_id, withdrawal_id)


async def count_withdrawals(
    db: Db, book_id: BookId, statuses: Sequence[str] | None, account_id: UUID | None
) -> int:
    """How many withdrawals fit."""
    where = _where(book_id, statuses, account_id)
    return await db.fetchval(
        "SELECT count(*) FROM withdrawals w WHERE w.book_id = $1" + where.sql(), *where.args
    )


async def list_withdrawals(
    db: Db, book_id: BookId, statuses: Sequence[str] | None, account_id: UUID | None, page: Page
) -> Sequence[Record]:
    """One page of the withdrawals that fit, the newest first."""
    where = _where(book_id, statuses, account_id)
    return await db.fetch(
        _WITHDRAWAL + where.sql() + " ORDER BY w.id DESC LIMIT " + where.window(page),
        *where.args,
    )
