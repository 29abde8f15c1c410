"""The statement that reverses a transfer, and the one that says why it can't be."""

from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, TransferId
from tillhouse.ledger.rules import Ledger, Source
from tillhouse.ledger.store.posting import BALANCE, TALLY


class Reversible(msgspec.Struct, frozen=True):
    """A transfer, as far as its reversal goes."""

    is_reversal: bool
    is_reversed: bool


async def record_reversal(
    db: Db, ledger: Ledger, source: Source, ids: tuple[UUID, UUID], sequence: int
) -> bool:
    """Post the opposite of a transfer, by (its id, the new one's); False unless it can be."""
    return await db.execute_one(
        """
        WITH original AS (
            SELECT t.debit_kind, t.debit_owner, t.credit_kind, t.credit_owner, t.amount
            FROM ledger_transfers t
            WHERE t.book_id = $1 AND t.id = $4 AND t.currency = $3 AND t.reverses_id IS NULL
                AND NOT EXISTS (SELECT FROM ledger_transfers r
                    WHERE r.book_id = $1 AND r.reverses_id = $4)
        ), source AS (
            SELECT $6::text AS source_type, $7::uuid AS source_id, $8::timestamptz AS happened_at,
                $10::uuid AS store_id
        ), posting AS (
            SELECT $7::uuid AS source_id, credit_kind AS debit_kind, credit_owner AS debit_owner,
                debit_kind AS credit_kind, debit_owner AS credit_owner, amount
            FROM original
        ), reversed AS (
            INSERT INTO ledger_transfers (book_id, id, debit_kind, debit_owner, credit_kind,
                credit_owner, amount, currency, kind, source_type, source_id, sequence,
                reverses_id, happened_at, created_at)
            SELECT $1, $5, p.debit_kind, p.debit_owner, p.credit_kind, p.credit_owner, p.amount,
                $3, 'reversal', source_type, source_id, $9, $4, happened_at, $2
            FROM posting p JOIN source USING (source_id)
        ), """
        + TALLY
        + ","
        + BALANCE
        + " SELECT true FROM original",
        ledger.book_id,
        ledger.now,
        ledger.currency,
        *ids,
        source.type,
        source.id,
        source.happened_at,
        sequence,
        source.store_id,
    )


async def find_reversible(db: Db, book_id: BookId, transfer_id: TransferId) -> Reversible | None:
    """Whether a transfer is a reversal, or was reversed."""
    row = await db.fetchrow(
        """
        SELECT t.reverses_id IS NOT NULL AS is_reversal, EXISTS (
            SELECT FROM ledger_transfers r WHERE r.book_id = $1 AND r.reverses_id = t.id
        ) AS is_reversed
        FROM ledger_transfers t WHERE t.book_id = $1 AND t.id = $2
        """,
        book_id,
        transfer_id,
    )
    return Reversible(**row) if row else None
