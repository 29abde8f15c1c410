"""Statements that change transactions."""

from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.ledger.rules import Ledger


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
