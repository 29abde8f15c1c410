"""Statements that read a book from one end to the other, a batch of ids after the last at a time.

Each reads an order, or a balance, and its transfers in one snapshot, so that a book in use is
seen as it was between two changes.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import cast
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.ledger.faults import BOUNDED, BalanceFacts, OrderFacts
from tillhouse.ledger.rules import Account, LedgerPosition, Method, Status


async def list_books(db: Db, business_id: UUID) -> Sequence[Record]:
    """The books of a business."""
    return await db.fetch(
        """
        SELECT id AS book_id, environment FROM books
        WHERE business_id = $1 ORDER BY environment
        """,
        business_id,
    )


async def list_orders(db: Db, book_id: UUID, after: UUID, limit: int) -> list[OrderFacts]:
    """Orders by id, deleted ones too, with what their transfers, transactions and debts say."""
    rows = await db.fetch(
        """
        WITH batch AS MATERIALIZED (
            SELECT o.id, o.short_code, o.total_amount, o.amount_paid, o.payment_method,
                o.customer_id, o.postings,
                CASE WHEN o.deleted_at IS NULL THEN o.status ELSE 'deleted' END AS status
            FROM orders o WHERE o.book_id = $1 AND o.id > $2 ORDER BY o.id LIMIT $3
        )
        SELECT b.*, t.paid, t.used, t.accounts, x.received, d.debts
        FROM batch b
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(s.paid), 0) AS paid, coalesce(max(s.used), 0) AS used,
                coalesce(json_agg(json_build_array(s.kind, s.owner_id, s.held::text))
                    FILTER (WHERE s.held <> 0), '[]') AS accounts
            FROM (
                SELECT side.kind, side.owner_id, sum(side.amount) AS held,
                    max(p.sequence) + 1 AS used,
                    sum(CASE WHEN p.kind = 'payment' AND side.amount > 0 THEN p.amount
                        WHEN p.kind = 'payment_correction' AND side.amount > 0 THEN -p.amount
                        ELSE 0 END) AS paid
                FROM ledger_transfers p
                CROSS JOIN LATERAL (VALUES (p.debit_kind, p.debit_owner, p.amount),
                    (p.credit_kind, p.credit_owner, -p.amount)) AS side (kind, owner_id, amount)
                WHERE p.book_id = $1 AND p.source_id = b.id
                GROUP BY side.kind, side.owner_id
            ) AS s
        ) AS t
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(r.amount), 0) AS received FROM transactions r
            WHERE r.book_id = $1 AND r.order_id = b.id AND r.status = 'successful'
                AND r.type IN ('sale', 'debt_payment', 'adjustment')
        ) AS x
        CROSS JOIN LATERAL (
            SELECT coalesce(json_agg(json_build_array(a.customer_id, a.balance::text)), '[]')
                AS debts
            FROM debts a
            WHERE a.book_id = $1 AND a.order_id = b.id AND a.status = 'active'
        ) AS d
        ORDER BY b.id
        """,
        book_id,
        after,
        limit,
    )
    return [_order(row) for row in rows]


def _order(row: Record) -> OrderFacts:
    held = msgspec.json.decode(row["accounts"], type=list[tuple[str, UUID, Decimal]])
    debts = msgspec.json.decode(row["debts"], type=list[tuple[UUID, Decimal]])
    position = LedgerPosition(
        total=row["total_amount"],
        paid=row["amount_paid"],
        method=cast(Method, row["payment_method"]),
        customer_id=row["customer_id"],
        status=cast(Status, row["status"]),
    )
    return OrderFacts(
        id=row["id"],
        short_code=row["short_code"],
        position=position,
        postings=row["postings"],
        used=row["used"],
        paid=row["paid"],
        received=row["received"],
        accounts={Account(kind, owner): amount for kind, owner, amount in held},
        debts=dict(debts),
        active_debts=len(debts),
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


async def find_stray_transfers(
    db: Db, book_id: UUID, after: UUID, limit: int
) -> tuple[UUID | None, list[UUID], list[UUID]]:
    """The last id of the batch; transfers without their order; reversals that aren't opposites."""
    row = await db.fetchrow(
        """
        WITH batch AS MATERIALIZED (
            SELECT t.* FROM ledger_transfers t
            WHERE t.book_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3
        )
        SELECT (SELECT id FROM batch ORDER BY id DESC LIMIT 1) AS last,
            ARRAY(
                SELECT b.id FROM batch b
                LEFT JOIN orders o ON o.book_id = $1 AND o.id = b.source_id
                WHERE b.source_type = 'order' AND o.id IS NULL ORDER BY b.id) AS orphans,
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
    return (row["last"], row["orphans"], row["reversals"]) if row else (None, [], [])


async def find_stray_debts(
    db: Db, book_id: UUID, after: UUID, limit: int
) -> tuple[UUID | None, list[UUID]]:
    """The last id of the batch, and debts without their order."""
    row = await db.fetchrow(
        """
        WITH batch AS MATERIALIZED (
            SELECT d.id, d.order_id FROM debts d
            WHERE d.book_id = $1 AND d.id > $2 ORDER BY d.id LIMIT $3
        )
        SELECT (SELECT id FROM batch ORDER BY id DESC LIMIT 1) AS last,
            ARRAY(
                SELECT b.id FROM batch b
                LEFT JOIN orders o ON o.book_id = $1 AND o.id = b.order_id
                WHERE o.id IS NULL ORDER BY b.id) AS orphans
        """,
        book_id,
        after,
        limit,
    )
    return (row["last"], row["orphans"]) if row else (None, [])
