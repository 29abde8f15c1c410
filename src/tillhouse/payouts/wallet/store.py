"""Statements that read the wallet."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId
from tillhouse.ledger.rules import NO_OWNER
from tillhouse.payouts.wallet.rules import EVER, Period, Position

_NEWEST = UUID(int=2**128 - 1)

# Ids rise with time, but a transaction that took longer commits a lower one later. None takes this
# long, so that older sums stay as they are.
_RECENT: LiteralString = """
    coalesce((
        SELECT sum(r.amount) FROM ledger_transfers r
        WHERE r.book_id = $1 AND r.credit_kind = 'wallet' AND r.credit_owner = $2
            AND r.id < at.id AND r.id >= least_id(made_at(at.id) - interval '30 seconds')), 0)
    - coalesce((
        SELECT sum(r.amount) FROM ledger_transfers r
        WHERE r.book_id = $1 AND r.debit_kind = 'wallet' AND r.debit_owner = $2
            AND r.id < at.id AND r.id >= least_id(made_at(at.id) - interval '30 seconds')), 0)
"""


# The transaction of an entry; that of a refund is its order's.
_TRANSACTION: LiteralString = """
    LEFT JOIN LATERAL (
        (SELECT x.id, x.reference FROM refunds f
         JOIN transactions x ON x.book_id = f.book_id AND x.id = f.transaction_id
         WHERE p.source_type = 'refund' AND f.book_id = $1 AND f.id = p.source_id
            AND f.hold_id IS NOT NULL)
        UNION ALL
        (SELECT x.id, x.reference FROM refunds f
         JOIN transactions x ON x.book_id = f.book_id AND x.id = f.transaction_id
         WHERE p.source_type = 'withdrawal' AND p.kind <> 'fee' AND f.book_id = $1
            AND f.withdrawal_id = p.source_id)
        UNION ALL
        (SELECT x.id, x.reference FROM folio_returns f
         JOIN transactions x ON x.book_id = f.book_id AND x.id = f.transaction_id
         WHERE p.source_type = 'folio_return' AND f.book_id = $1 AND f.id = p.source_id)
        UNION ALL
        (SELECT x.id, x.reference FROM transactions x
         WHERE x.book_id = $1 AND x.source_id = p.source_id AND x.source_type = p.source_type
         -- A fee has one of its own: the latest that was told by then.
         ORDER BY (x.type = 'fee') <> (p.kind = 'fee'), x.id LIMIT 1)
        LIMIT 1
    ) x ON true
"""


async def show_wallet(db: Db, book_id: BookId) -> Record:
    """The balance, the held part, and the amount being withdrawn."""
    [row] = await db.fetch(
        """
        SELECT u.currency, coalesce(b.credits - b.debits, 0) AS balance,
            coalesce(b.held, 0) AS held, w.withdrawals, w.withdrawing
        FROM books k JOIN businesses u ON u.id = k.business_id
        LEFT JOIN ledger_balances b
            ON b.book_id = k.id AND b.kind = 'wallet' AND b.owner_id = $2
        CROSS JOIN LATERAL (
            SELECT count(*) AS withdrawals, coalesce(sum(w.amount), 0) AS withdrawing
            FROM withdrawals w
            WHERE w.book_id = $1 AND w.status IN ('requested', 'processing')
        ) w
        WHERE k.id = $1
        """,
        book_id,
        NO_OWNER,
    )
    return row


# The times of each part ($3 to $6): the period, then all after it. Days of UTC that are summed up
# take the place of their transfers; the others are read, by their ids alone: OFFSET 0 keeps a plan
# for unknown times from reading all.
_MOVED: LiteralString = """
    WITH part AS (
        SELECT p.*, least(p.beyond_day, coalesce((
            SELECT max(w.day) + 1 FROM wallet_days w WHERE w.book_id = $1), '-infinity'))
            AS summed_until
        FROM unnest($3::timestamptz[], $4::timestamptz[], $5::date[], $6::date[])
            WITH ORDINALITY AS p (since, until, first_day, beyond_day, number)
    ), span AS (
        SELECT p.number, least_id(p.since) AS first, least_id(
            CASE WHEN p.first_day < p.summed_until THEN p.first_day::timestamp AT TIME ZONE 'UTC'
                ELSE p.until END) AS beyond
        FROM part p
        UNION ALL
        SELECT p.number, least_id(p.summed_until::timestamp AT TIME ZONE 'UTC'), least_id(p.until)
        FROM part p WHERE p.first_day < p.summed_until
    ), moved AS (
        SELECT m.number, sum(m.came_in) AS came_in, sum(m.went_out) AS went_out
        FROM (
            SELECT p.number, w.credits AS came_in, w.credits - w.change AS went_out
            FROM part p JOIN wallet_days w ON w.book_id = $1 AND w.day >= p.first_day
                AND w.day < p.summed_until
            UNION ALL
            SELECT s.number, c.amount, 0 FROM span s CROSS JOIN LATERAL (
                SELECT t.amount FROM ledger_transfers t WHERE t.book_id = $1
                    AND t.credit_kind = 'wallet' AND t.credit_owner = $2
                    AND t.id >= s.first AND t.id < s.beyond OFFSET 0) c
            UNION ALL
            SELECT s.number, 0, d.amount FROM span s CROSS JOIN LATERAL (
                SELECT t.amount FROM ledger_transfers t WHERE t.book_id = $1
                    AND t.debit_kind = 'wallet' AND t.debit_owner = $2
                    AND t.id >= s.first AND t.id < s.beyond OFFSET 0) d
        ) m GROUP BY m.number
    )
"""


async def find_sums(db: Db, book_id: BookId, period: Period) -> Record:
    """The sums of a period, the balance at its end, and its end as a place in the statement."""
    after = Period(period.until, EVER[1])
    parts = period, after
    days = [part.whole_days for part in parts]
    [row] = await db.fetch(
        _MOVED
        + """
        SELECT u.currency, at.id AS beyond, coalesce(i.came_in, 0) AS came_in,
            coalesce(i.went_out, 0) AS went_out,
            coalesce(b.credits - b.debits, 0) - coalesce(a.came_in - a.went_out, 0) AS closing,
        """
        + _RECENT
        + """ AS recent
        FROM books k JOIN businesses u ON u.id = k.business_id
        CROSS JOIN (SELECT least_id(p.until) AS id FROM part p WHERE p.number = 1) at
        LEFT JOIN moved i ON i.number = 1
        LEFT JOIN moved a ON a.number = 2
        LEFT JOIN ledger_balances b
            ON b.book_id = k.id AND b.kind = 'wallet' AND b.owner_id = $2
        WHERE k.id = $1
        """,
        book_id,
        NO_OWNER,
        [part.since for part in parts],
        [part.until for part in parts],
        [first for first, _ in days],
        [beyond for _, beyond in days],
    )
    return row


# From $7 on and before a place ($3), so many ($4) that came in, and so many that went out. They are
# compared and sorted by all columns of their index: by the ids alone, a plan may pass over all of
# a book's transfers to find that none went out.
_CHANGE: LiteralString = """
    WITH change AS MATERIALIZED (
        (SELECT t.*, t.amount AS change FROM ledger_transfers t
         WHERE t.book_id = $1
            AND (t.credit_kind, t.credit_owner, t.id) >= ('wallet', $2, least_id($7))
            AND (t.credit_kind, t.credit_owner, t.id) < ('wallet', $2, $3)
         ORDER BY t.credit_kind DESC, t.credit_owner DESC, t.id DESC LIMIT $4 + 1)
        UNION ALL
        (SELECT t.*, -t.amount FROM ledger_transfers t
         WHERE t.book_id = $1
            AND (t.debit_kind, t.debit_owner, t.id) >= ('wallet', $2, least_id($7))
            AND (t.debit_kind, t.debit_owner, t.id) < ('wallet', $2, $3)
         ORDER BY t.debit_kind DESC, t.debit_owner DESC, t.id DESC LIMIT $4 + 1)
"""


async def list_entries(
    db: Db,
    book_id: BookId,
    position: Position | None,
    limit: int,
    *,
    since: datetime | None = None,
) -> Sequence[Record]:
    """A page of transfers of the wallet before a place and one more, the newest first."""
    return await db.fetch(
        _CHANGE
        + """
        ), page AS MATERIALIZED (
            SELECT * FROM change ORDER BY id DESC LIMIT $4 + 1
        ), at (id, is_end) AS (
            SELECT $3::uuid, false UNION ALL
            (SELECT id, true FROM page ORDER BY id DESC OFFSET $4 - 1 LIMIT 1)
        ), recent AS MATERIALIZED (
            SELECT at.is_end,
        """
        + _RECENT
        + """ AS sum FROM at WHERE at.is_end OR $5::numeric IS NOT NULL
        ), beginning AS (
            SELECT coalesce($5 + (SELECT sum FROM recent WHERE NOT is_end) - $6::numeric,
                (SELECT b.credits - b.debits FROM ledger_balances b
                 WHERE b.book_id = $1 AND b.kind = 'wallet' AND b.owner_id = $2), 0) AS balance
        )
        SELECT p.id, p.kind AS type, p.change AS amount, p.currency, p.source_type, p.source_id,
            iso(p.happened_at) AS occurred_at, iso(p.created_at) AS created_at,
            beginning.balance + p.change - sum(p.change) OVER (ORDER BY p.id DESC)
                AS balance_after,
            (SELECT sum FROM recent WHERE is_end) AS recent,
            x.id AS transaction_id, x.reference
        FROM page p CROSS JOIN beginning
        """
        + _TRANSACTION
        + " ORDER BY p.id DESC",
        book_id,
        NO_OWNER,
        position.transfer_id if position else _NEWEST,
        limit,
        position.balance if position else None,
        position.recent if position else None,
        since or EVER[0],
    )


async def insert_days(db: Db, books: Sequence[UUID], before: date, limit: int) -> int:
    """Sum up the next day with transfers of the wallets of some books, by book_id; how many."""
    done = await db.execute(
        """
        INSERT INTO wallet_days (book_id, day, credits, change)
        SELECT b.book_id, d.day, c.credits,
            c.credits - coalesce((SELECT sum(t.amount) FROM ledger_transfers t
                WHERE t.book_id = b.book_id AND t.debit_kind = 'wallet' AND t.debit_owner = $4
                    AND t.id >= least_id(d.day::timestamp AT TIME ZONE 'UTC')
                    AND t.id < least_id((d.day + 1)::timestamp AT TIME ZONE 'UTC')), 0)
        FROM ledger_balances b
        CROSS JOIN LATERAL (
            SELECT least_id(coalesce(max(w.day) + 1, '1970-01-01')::timestamp
                AT TIME ZONE 'UTC') AS id
            FROM wallet_days w WHERE w.book_id = b.book_id
        ) after
        CROSS JOIN LATERAL (
            SELECT (made_at(least(
                (SELECT t.id FROM ledger_transfers t
                 WHERE t.book_id = b.book_id AND t.credit_kind = 'wallet' AND t.credit_owner = $4
                    AND t.id >= after.id ORDER BY t.id LIMIT 1),
                (SELECT t.id FROM ledger_transfers t
                 WHERE t.book_id = b.book_id AND t.debit_kind = 'wallet' AND t.debit_owner = $4
                    AND t.id >= after.id ORDER BY t.id LIMIT 1))) AT TIME ZONE 'UTC')::date AS day
        ) d
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(t.amount), 0) AS credits FROM ledger_transfers t
            WHERE t.book_id = b.book_id AND t.credit_kind = 'wallet' AND t.credit_owner = $4
                AND t.id >= least_id(d.day::timestamp AT TIME ZONE 'UTC')
                AND t.id < least_id((d.day + 1)::timestamp AT TIME ZONE 'UTC')
        ) c
        WHERE b.book_id = ANY($1) AND b.kind = 'wallet' AND b.owner_id = $4 AND d.day < $2
        LIMIT $3
        ON CONFLICT DO NOTHING
        """,
        books,
        before,
        limit,
        NO_OWNER,
    )
    return int(done.rpartition(" ")[2])
