"""The one place where money is written: a brick of CTEs that other statements splice in.

    WITH <the statement's own CTEs, among them posting, movement, owing and source>,
    <POST, or what `Rows.post` says>
    SELECT …

The surrounding statement defines tables with these columns (`GIVEN` defines the first three):

    posting   source_id, id, debit_kind, debit_owner, credit_kind, credit_owner, amount, kind,
              sequence
    movement  source_id, id, reference, type, status, method, amount
    owing     source_id, id, customer_id, balance, closes
    source    source_type, source_id, customer_id, store_id, happened_at: for a source without a
              row nothing is written

Everywhere $1 is the book, $2 now, $3 the currency. `GIVEN` reads the first three from JSON, as
$4, $5 and $6; `rows` makes their content.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import LiteralString
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.ids import CustomerId, new_id, short_code
from tillhouse.kit.json import encode
from tillhouse.ledger.rules import BOUNDED, Ledger, Postings, Source, Transfer

GIVEN: LiteralString = """
    posting AS (
        SELECT * FROM json_to_recordset($4) AS p (source_id uuid, id uuid, debit_kind text,
            debit_owner uuid, credit_kind text, credit_owner uuid, amount numeric, kind text,
            sequence integer)
    ),
    movement AS (
        SELECT * FROM json_to_recordset($5) AS m (source_id uuid, id uuid, reference text,
            type text, status text, method text, amount numeric)
    ),
    owing AS (
        SELECT * FROM json_to_recordset($6) AS o (source_id uuid, id uuid, customer_id uuid,
            balance numeric, closes text)
    )
"""

# Data-modifying CTEs see one snapshot and run in no fixed order. Where one has to come before
# another, the other counts its rows first. Foreign keys are checked after all of them.
OPEN: LiteralString = """
    opened AS (
        INSERT INTO ledger_accounts (book_id, kind, owner_id, currency, created_at)
        SELECT DISTINCT $1::uuid, side.kind, side.owner_id, $3::text, $2::timestamptz
        FROM posting p JOIN source USING (source_id)
        CROSS JOIN LATERAL (VALUES (p.debit_kind, p.debit_owner), (p.credit_kind, p.credit_owner))
            AS side (kind, owner_id)
        ORDER BY 2, 3
        -- Of either unique index: a rival's row may be met in the one that isn't named.
        ON CONFLICT DO NOTHING
    )
"""

TRANSFER: LiteralString = """
    posted AS (
        INSERT INTO ledger_transfers (book_id, id, debit_kind, debit_owner, credit_kind,
            credit_owner, amount, currency, kind, source_type, source_id, sequence, happened_at,
            created_at)
        SELECT $1::uuid, p.id, p.debit_kind, p.debit_owner, p.credit_kind, p.credit_owner,
            p.amount, $3::text, p.kind, source.source_type, source_id, p.sequence,
            source.happened_at, $2::timestamptz
        FROM posting p JOIN source USING (source_id)
    )
"""
TALLY: LiteralString = """
    tallied AS (
        INSERT INTO ledger_tally_changes (book_id, account_kind, is_cost, quarter_at, store_id,
            amount)
        SELECT $1::uuid, side.kind,
            side.other IN ('expenses', 'fees', 'disputes', 'withdrawals_in_transit'),
            date_bin('15 minutes', source.happened_at, '2001-01-01Z'), source.store_id,
            sum(side.amount)
        FROM posting p JOIN source USING (source_id)
        CROSS JOIN LATERAL (VALUES (p.debit_kind, p.debit_owner, p.credit_kind, p.amount),
            (p.credit_kind, p.credit_owner, p.debit_kind, -p.amount))
            AS side (kind, owner_id, other, amount)
        WHERE side.kind IN ('cash', 'bank', 'pos', 'provider_clearing', 'other_tender', 'refunds',
                'tips')
            -- Another currency has an account of its own, which is no part of these sums.
            AND side.owner_id = '00000000-0000-0000-0000-000000000000'
        GROUP BY 2, 3, 4, 5
    )
"""
"""Sums of the postings on accounts that a day is summed up by.

Costs are kept apart: what went to expenses, fees and disputes, or out of the wallet to a bank, was
received all the same, and has figures of its own.
"""
_MOVE: LiteralString = """
    seen AS (
        INSERT INTO transactions (book_id, id, reference, type, status, method, amount, currency,
            source_type, source_id, customer_id, store_id, happened_at, created_at, updated_at)
        SELECT $1::uuid, m.id, m.reference, m.type, coalesce(m.status, 'successful'), m.method,
            m.amount, $3::text, source.source_type, source_id, source.customer_id,
            source.store_id, source.happened_at, $2::timestamptz, $2::timestamptz
        FROM movement m JOIN source USING (source_id)
    )
"""

_TURNOVER: LiteralString = """
    turnover AS MATERIALIZED (
        SELECT side.kind, side.owner_id, sum(side.debit) AS debits, sum(side.credit) AS credits
        FROM posting p JOIN source USING (source_id)
        CROSS JOIN LATERAL (VALUES (p.debit_kind, p.debit_owner, p.amount, 0),
            (p.credit_kind, p.credit_owner, 0, p.amount)) AS side (kind, owner_id, debit, credit)
        WHERE side.kind IN ('wallet', 'customer_credit')
        GROUP BY side.kind, side.owner_id
    ),
    bounded AS MATERIALIZED (
        SELECT b.kind, b.owner_id
        FROM turnover t
        JOIN ledger_balances b
            ON b.book_id = $1::uuid AND b.kind = t.kind AND b.owner_id = t.owner_id
        ORDER BY b.kind, b.owner_id
        FOR NO KEY UPDATE OF b
    ),
"""
_DRAWN: LiteralString = """
    drawn AS (
        UPDATE ledger_balances b SET debits = b.debits + t.debits, credits = b.credits + t.credits
        FROM turnover t
        WHERE b.book_id = $1::uuid AND b.kind = t.kind AND b.owner_id = t.owner_id
            AND t.debits > t.credits AND (SELECT count(*) FROM bounded) >= 0
        RETURNING b.kind, b.owner_id
    ),
"""
_SETTLED: LiteralString = """
    drawn AS (
        UPDATE ledger_balances b SET debits = b.debits + t.debits, credits = b.credits + t.credits,
            held = b.held - coalesce((SELECT e.held FROM ended e
                WHERE e.account_kind = b.kind AND e.account_owner = b.owner_id), 0)
        FROM turnover t
        WHERE b.book_id = $1::uuid AND b.kind = t.kind AND b.owner_id = t.owner_id
            AND t.debits > t.credits AND (SELECT count(*) FROM bounded) >= 0
        RETURNING b.kind, b.owner_id
    ),
"""
_FILLED: LiteralString = """
    -- What would be drawn from a balance that isn't there arrives here, and fails the same check.
    balanced AS (
        INSERT INTO ledger_balances AS b (book_id, kind, owner_id, debits, credits)
        SELECT $1::uuid, t.kind, t.owner_id, t.debits, t.credits
        FROM turnover t
        WHERE (SELECT count(*) FROM bounded) >= 0
            AND (t.kind, t.owner_id) NOT IN (SELECT d.kind, d.owner_id FROM drawn d)
        ORDER BY 2, 3
        ON CONFLICT (book_id, kind, owner_id)
            DO UPDATE SET debits = b.debits + excluded.debits,
                credits = b.credits + excluded.credits
    )
"""

_DEBTS: LiteralString = """
    settled AS (
        UPDATE debts d SET status = o.closes, balance = 0, closed_at = $2::timestamptz,
            updated_at = $2::timestamptz
        FROM owing o JOIN source USING (source_id)
        WHERE d.book_id = $1::uuid AND d.source_id = source.source_id
            AND d.source_type = source.source_type AND d.status = 'active'
            AND o.closes IS NOT NULL
        RETURNING d.id
    ),
    owed AS (
        INSERT INTO debts AS d (book_id, id, source_type, source_id, customer_id, status, balance,
            currency, opened_at, updated_at)
        SELECT $1::uuid, o.id, source.source_type, source_id, o.customer_id, 'active', o.balance,
            $3::text, source.happened_at, $2::timestamptz
        FROM owing o JOIN source USING (source_id)
        WHERE o.closes IS NULL AND (SELECT count(*) FROM settled) >= 0
        ON CONFLICT (book_id, source_id, source_type) WHERE status = 'active'
            DO UPDATE SET balance = excluded.balance, updated_at = excluded.updated_at
    )
"""

BALANCE: LiteralString = _TURNOVER + _DRAWN + _FILLED
"""Bounded accounts of the postings: locked in order, drawn, filled."""
SETTLE: LiteralString = _TURNOVER + _SETTLED + _FILLED
"""The same, where the CTE `ended` (account_kind, account_owner, held) frees held money."""
_UNBOUNDED: LiteralString = OPEN + "," + TRANSFER + "," + TALLY + "," + _MOVE
POST: LiteralString = _UNBOUNDED + "," + BALANCE + "," + _DEBTS
"""Everything that can be posted."""


class PostingRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `posting`."""

    source_id: UUID
    id: UUID
    debit_kind: str
    debit_owner: UUID
    credit_kind: str
    credit_owner: UUID
    amount: Decimal
    kind: str
    sequence: int


class MovementRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row of `movement`."""

    source_id: UUID
    id: UUID
    reference: str
    type: str
    method: str
    amount: Decimal
    # The most frequent value is left out, and the statement supplies it.
    status: str = "successful"


class OwingRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `owing`."""

    source_id: UUID
    id: UUID
    customer_id: CustomerId
    balance: Decimal
    closes: str | None


class Rows(msgspec.Struct, frozen=True):
    """Postings as they are written: `GIVEN` reads each list as JSON."""

    posting: list[PostingRow]
    movement: list[MovementRow]
    owing: list[OwingRow]

    @classmethod
    def of(cls, each: Sequence["Rows"]) -> "Rows":
        """Those of several sources, which one statement writes."""
        return cls(
            [row for rows in each for row in rows.posting],
            [row for rows in each for row in rows.movement],
            [row for rows in each for row in rows.owing],
        )

    @property
    def post(self) -> LiteralString:
        """The brick for these: without balances and debts, where there are none to keep."""
        has_bounds = self.owing or any(
            kind in BOUNDED for row in self.posting for kind in (row.debit_kind, row.credit_kind)
        )
        return POST if has_bounds else _UNBOUNDED


def rows(source_id: UUID, postings: Postings, first: int) -> Rows:
    """Give each row its id and each transfer its number; `first` is the source's next one."""
    return Rows(
        [
            _posting(source_id, transfer, number)
            for number, transfer in enumerate(postings.transfers, first)
        ],
        [
            MovementRow(
                source_id=source_id,
                id=new_id(),
                reference=_reference(),
                type=m.type,
                status=m.status,
                method=m.method,
                amount=m.amount,
            )
            for m in postings.movements
        ],
        [
            OwingRow(
                source_id=source_id,
                id=new_id(),
                customer_id=o.customer_id,
                balance=o.balance,
                closes=o.closes,
            )
            for o in postings.owing
        ],
    )


def _posting(source_id: UUID, transfer: Transfer, number: int) -> PostingRow:
    return PostingRow(
        source_id=source_id,
        id=new_id(),
        debit_kind=transfer.debit.kind,
        debit_owner=transfer.debit.owner_id,
        credit_kind=transfer.credit.kind,
        credit_owner=transfer.credit.owner_id,
        amount=transfer.amount,
        kind=transfer.kind,
        sequence=number,
    )


def _reference() -> str:
    return f"TXN-{short_code(12)}"


async def record_postings(db: Db, ledger: Ledger, sources: Sequence[Source], written: Rows) -> None:
    """Write the postings of some sources: together, or not at all."""
    await db.execute(
        "WITH "
        + GIVEN
        + """,
        source AS MATERIALIZED (
            SELECT s.source_type, s.source_id, s.customer_id, s.store_id,
                -- A moment in a closed period is told late: the books take it now.
                CASE WHEN s.moment < $2 THEN booked_at($1, s.moment, $2) ELSE s.moment END
                    AS happened_at
            FROM unnest($7::text[], $8::uuid[], $9::uuid[], $10::uuid[], $11::timestamptz[])
                AS s (source_type, source_id, customer_id, store_id, moment)
        ),
        """
        + written.post
        + "SELECT 1",
        ledger.book_id,
        ledger.now,
        ledger.currency,
        encode(written.posting).decode(),
        encode(written.movement).decode(),
        encode(written.owing).decode(),
        [source.type for source in sources],
        [source.id for source in sources],
        [source.customer_id for source in sources],
        [source.store_id for source in sources],
        [source.happened_at for source in sources],
    )
