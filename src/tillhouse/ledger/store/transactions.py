"""Statements that change transactions."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId
from tillhouse.ledger.rules import Ledger, TransactionStatus, TransactionType


async def update_reversed(db: Db, ledger: Ledger, transaction_id: UUID) -> None:
    """Mark a transaction whose money went back."""
    await db.execute(
        """
        UPDATE transactions SET status = 'reversed', updated_at = $3
        WHERE book_id = $1 AND id = $2 AND status = 'successful'
        """,
        ledger.book_id,
        transaction_id,
        ledger.now,
    )


async def update_reversed_of(
    db: Db, ledger: Ledger, source: tuple[str, UUID], types: Sequence[TransactionType]
) -> None:
    """Mark the transactions of some types that a source (type, id) has, whose money went back."""
    await db.execute(
        """
        UPDATE transactions SET status = 'reversed', updated_at = $2
        WHERE book_id = $1 AND source_type = $3 AND source_id = $4 AND type = ANY($5)
            AND status = 'successful'
        """,
        ledger.book_id,
        ledger.now,
        *source,
        list(types),
    )


_IS_PAST: LiteralString = """
    SELECT coalesce(bool_or(t.happened_at < date_trunc('day', $2, u.time_zone)
        OR is_closed(t.book_id, t.happened_at)), false)
    FROM transactions t
    JOIN books b ON b.id = t.book_id
    JOIN businesses u ON u.id = b.business_id
    WHERE t.book_id = $1
"""


async def is_of_a_past_day(db: Db, ledger: Ledger, transaction_id: UUID) -> bool:
    """Whether a transaction is of a day of the business before, or of a closed one."""
    return await db.fetchval(
        _IS_PAST + " AND t.id = $3", ledger.book_id, ledger.now, transaction_id
    )


async def is_any_of_a_past_day(
    db: Db, ledger: Ledger, source: tuple[str, UUID], types: Sequence[TransactionType]
) -> bool:
    """Whether a transaction of some types that a source has is of a day of the business before."""
    return await db.fetchval(
        _IS_PAST + " AND t.source_type = $3 AND t.source_id = $4 AND t.type = ANY($5)",
        ledger.book_id,
        ledger.now,
        *source,
        list(types),
    )


async def update_untold(db: Db, book_id: BookId, transaction_id: UUID) -> None:
    """Leave a transaction out of the list: its money was told when it came in."""
    await db.execute(
        "UPDATE transactions SET is_told = false WHERE book_id = $1 AND id = $2",
        book_id,
        transaction_id,
    )


async def update_status(
    db: Db, ledger: Ledger, transaction_id: UUID, status: TransactionStatus
) -> None:
    """Say how far a transaction is."""
    await db.execute(
        """
        UPDATE transactions SET status = $4, updated_at = $3 WHERE book_id = $1 AND id = $2
        """,
        ledger.book_id,
        transaction_id,
        ledger.now,
        status,
    )
