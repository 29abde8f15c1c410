"""Statements that read a book from one end to the other, a batch of ids after the last at a time.

Each reads a balance and its transfers in one snapshot, so that a book in use is
seen as it was between two changes.
"""

from collections.abc import Sequence
from typing import Literal, LiteralString, get_args
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BusinessId
from tillhouse.ledger.rules import BOUNDED, BalanceFacts


async def list_books(db: Db, business_id: BusinessId) -> Sequence[Record]:
    """The books of a business."""
    return await db.fetch(
        """
        SELECT id AS book_id, environment FROM books
        WHERE business_id = $1 ORDER BY environment
        """,
        business_id,
    )


async def list_balances(
    db: Db, book_id: BookId, after: tuple[str, UUID], limit: int
) -> list[BalanceFacts]:
    """Accounts that keep a balance, with the kept one and the sum of their transfers."""
    rows = await db.fetch(
        """
        WITH batch AS MATERIALIZED (
            SELECT a.kind, a.owner_id FROM ledger_accounts a
            WHERE a.book_id = $1 AND (a.kind, a.owner_id) > ($2, $3) AND a.kind = ANY($5)
            ORDER BY a.kind, a.owner_id LIMIT $4
        )
        SELECT batch.kind, batch.owner_id, coalesce(b.debits, 0) AS debits,
            coalesce(b.credits, 0) AS credits, coalesce(b.held, 0) AS held,
            (SELECT coalesce(sum(t.amount), 0) FROM ledger_transfers t
             WHERE t.book_id = $1 AND t.debit_kind = batch.kind
                AND t.debit_owner = batch.owner_id) AS transfers_debits,
            (SELECT coalesce(sum(t.amount), 0) FROM ledger_transfers t
             WHERE t.book_id = $1 AND t.credit_kind = batch.kind
                AND t.credit_owner = batch.owner_id) AS transfers_credits,
            (SELECT coalesce(sum(h.amount), 0) FROM ledger_holds h
             WHERE h.book_id = $1 AND h.account_kind = batch.kind
                AND h.account_owner = batch.owner_id AND h.status = 'pending') AS pending_holds
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


class FalseTransfers(msgspec.Struct, frozen=True):
    """A batch of transfers: its last id, and its faults."""

    last: UUID | None
    # Between accounts that aren't there, or not of their currency.
    foreign: list[UUID]
    # Not the opposite of the reversed transfer, or the reversal of a reversal.
    reversals: list[UUID]


async def find_false_transfers(db: Db, book_id: BookId, after: UUID, limit: int) -> FalseTransfers:
    """Transfers of the next batch that break a rule."""
    row = await db.fetchrow(
        """
        WITH batch AS MATERIALIZED (
            SELECT t.* FROM ledger_transfers t
            WHERE t.book_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3
        )
        SELECT (SELECT id FROM batch ORDER BY id DESC LIMIT 1) AS last,
            ARRAY(
                SELECT b.id FROM batch b
                LEFT JOIN ledger_accounts d ON d.book_id = $1 AND d.kind = b.debit_kind
                    AND d.owner_id = b.debit_owner AND d.currency = b.currency
                LEFT JOIN ledger_accounts c ON c.book_id = $1 AND c.kind = b.credit_kind
                    AND c.owner_id = b.credit_owner AND c.currency = b.currency
                WHERE d.kind IS NULL OR c.kind IS NULL
                ORDER BY b.id) AS foreign,
            ARRAY(
                SELECT b.id FROM batch b
                LEFT JOIN ledger_transfers t ON t.book_id = $1 AND t.id = b.reverses_id
                WHERE b.reverses_id IS NOT NULL
                    AND (t.credit_kind, t.credit_owner, t.debit_kind, t.debit_owner, t.amount,
                        t.currency, t.reverses_id)
                        IS DISTINCT FROM (b.debit_kind, b.debit_owner, b.credit_kind,
                            b.credit_owner, b.amount, b.currency, NULL::uuid)
                ORDER BY b.id) AS reversals
        """,
        book_id,
        after,
        limit,
    )
    return FalseTransfers(**row) if row else FalseTransfers(None, [], [])


class FalseHolds(msgspec.Struct, frozen=True):
    """A batch of holds: its last id, and those whose transfer doesn't fit their end."""

    last: UUID | None
    untrue: list[UUID]


async def find_false_holds(db: Db, book_id: BookId, after: UUID, limit: int) -> FalseHolds:
    """Posted holds of the next batch without a transfer from their account within their amount."""
    row = await db.fetchrow(
        """
        WITH batch AS MATERIALIZED (
            SELECT h.* FROM ledger_holds h
            WHERE h.book_id = $1 AND h.id > $2 ORDER BY h.id LIMIT $3
        )
        SELECT (SELECT id FROM batch ORDER BY id DESC LIMIT 1) AS last,
            ARRAY(
                SELECT b.id FROM batch b
                LEFT JOIN ledger_transfers t ON t.book_id = $1 AND t.id = b.transfer_id
                    AND t.debit_kind = b.account_kind AND t.debit_owner = b.account_owner
                    AND t.currency = b.currency AND t.source_type = b.source_type
                    AND t.source_id = b.source_id AND t.amount <= b.amount
                WHERE b.status = 'posted' AND t.id IS NULL
                ORDER BY b.id) AS untrue
        """,
        book_id,
        after,
        limit,
    )
    return FalseHolds(**row) if row else FalseHolds(None, [])


Subject = Literal["transfer", "hold", "transaction", "debt"]

SUBJECTS: tuple[Subject, ...] = get_args(Subject)

_SOURCES: dict[Subject, LiteralString] = {
    "transfer": "SELECT id, source_type, source_id FROM ledger_transfers",
    "hold": "SELECT id, source_type, source_id FROM ledger_holds",
    "transaction": "SELECT id, source_type, source_id FROM transactions",
    "debt": "SELECT id, source_type, source_id FROM debts",
}


class Sourced(msgspec.Struct, frozen=True):
    """A row, and the source that it was written for."""

    id: UUID
    source_type: str
    source_id: UUID


async def list_sources(
    db: Db, book_id: BookId, subject: Subject, after: UUID, limit: int
) -> list[Sourced]:
    """The sources of so many rows after an id."""
    rows = await db.fetch(
        _SOURCES[subject] + " WHERE book_id = $1 AND id > $2 ORDER BY id LIMIT $3",
        book_id,
        after,
        limit,
    )
    return [Sourced(**row) for row in rows]
