"""Statements that read a book from one end to the other, a batch of ids after the last at a time.

Each reads a balance and its transfers in one snapshot, so that a book in use is
seen as it was between two changes.
"""

from collections.abc import Sequence
from typing import Literal, LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.ledger.faults import BalanceFacts
from tillhouse.ledger.rules import BOUNDED


async def list_books(db: Db, business_id: UUID) -> Sequence[Record]:
    """The books of a business."""
    return await db.fetch(
        """
        SELECT id AS book_id, environment FROM books
        WHERE business_id = $1 ORDER BY environment
        """,
        business_id,
    )


async def list_balances(
    db: Db, book_id: UUID, after: tuple[str, UUID], limit: int
) -> list[BalanceFacts]:
    """Accounts that keep a balance, with what it keeps and what their transfers come to."""
    rows = await db.fetch(
        """
        WITH batch AS MATERIALIZED (
            SELECT a.kind, a.owner_id FROM ledger_accounts a
            WHERE a.book_id = $1 AND (a.kind, a.owner_id) > ($2, $3) AND a.kind = ANY($5)
            ORDER BY a.kind, a.owner_id LIMIT $4
        )
        SELECT batch.kind, batch.owner_id, coalesce(b.debits, 0) AS debits,
            coalesce(b.credits, 0) AS credits,
            (SELECT coalesce(sum(t.amount), 0) FROM ledger_transfers t
             WHERE t.book_id = $1 AND t.debit_kind = batch.kind
                AND t.debit_owner = batch.owner_id) AS transfers_debits,
            (SELECT coalesce(sum(t.amount), 0) FROM ledger_transfers t
             WHERE t.book_id = $1 AND t.credit_kind = batch.kind
                AND t.credit_owner = batch.owner_id) AS transfers_credits
        FROM batch
        LEFT JOIN ledger_balances b
            ON b.book_id = $1 AND b.kind = batch.kind AND b.owner_id = batch.owner_id
        ORDER BY batch.kind, batch.owner_id
        """,
        book_id,
        *after,
        limit,
        list(BOUNDED),
    )
    return [BalanceFacts(**row) for row in rows]


async def find_false_reversals(
    db: Db, book_id: UUID, after: UUID, limit: int
) -> tuple[UUID | None, list[UUID]]:
    """The last id of the batch of transfers, and reversals in it that aren't opposites."""
    row = await db.fetchrow(
        """
        WITH batch AS MATERIALIZED (
            SELECT t.* FROM ledger_transfers t
            WHERE t.book_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3
        )
        SELECT (SELECT id FROM batch ORDER BY id DESC LIMIT 1) AS last,
            ARRAY(
                SELECT b.id FROM batch b
                LEFT JOIN ledger_transfers t ON t.book_id = $1 AND t.id = b.reverses_id
                WHERE b.reverses_id IS NOT NULL
                    AND (t.credit_kind, t.credit_owner, t.debit_kind, t.debit_owner, t.amount)
                        IS DISTINCT FROM (b.debit_kind, b.debit_owner, b.credit_kind,
                            b.credit_owner, b.amount)
                ORDER BY b.id) AS reversals
        """,
        book_id,
        after,
        limit,
    )
    return (row["last"], row["reversals"]) if row else (None, [])


Subject = Literal["transfer", "transaction", "debt"]

_SOURCES: dict[Subject, LiteralString] = {
    "transfer": "SELECT id, source_type, source_id FROM ledger_transfers",
    "transaction": "SELECT id, 'order' AS source_type, order_id AS source_id FROM transactions",
    "debt": "SELECT id, 'order' AS source_type, order_id AS source_id FROM debts",
}


class Sourced(msgspec.Struct, frozen=True):
    """A row, and the source that it was written for."""

    id: UUID
    source_type: str
    source_id: UUID


async def list_sources(
    db: Db, book_id: UUID, subject: Subject, which: tuple[UUID, int]
) -> list[Sourced]:
    """The sources of so many rows after an id."""
    rows = await db.fetch(
        _SOURCES[subject] + " WHERE book_id = $1 AND id > $2 ORDER BY id LIMIT $3",
        book_id,
        *which,
    )
    return [Sourced(**row) for row in rows]
