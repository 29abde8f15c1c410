"""Statements that read the books: balances of accounts, and pages of entries."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId
from tillhouse.ledger.rules import NO_OWNER, EntryKind


class EntryQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on entries; an absent one (None) lets all pass."""

    limit: int
    cursor: UUID | None
    since: datetime | None
    until: datetime | None
    kinds: Sequence[EntryKind] | None = None
    moved_since: datetime | None = None
    moved_until: datetime | None = None

    @property
    def is_of_rare_kinds(self) -> bool:
        """Whether an index of their own has the kinds: those that every sale makes are in none."""
        return self.kinds is not None and not {"sale", "payment"}.intersection(self.kinds)


class EntryPart(msgspec.Struct, frozen=True, kw_only=True):
    """The source or the account whose entries are wanted; absent ones (None) let all pass."""

    source_id: UUID | None
    account: str | None
    owner: UUID


async def list_balances(db: Db, book_id: BookId, ends: datetime | None) -> Sequence[Record]:
    """Debits and credits of each kind of account and currency, of the transfers before a moment.

    Days that are summed up come from their sums, and the one that is split from its quarters of an
    hour; entries that were booked since are read.
    """
    return await db.fetch(
        """
        WITH summed AS MATERIALIZED (
            SELECT least_id(coalesce(max(d.day) + 1, '1970-01-01')::timestamp AT TIME ZONE 'UTC')
                AS until
            FROM ledger_summed_days d WHERE d.book_id = $1
        ), span AS MATERIALIZED (
            SELECT coalesce($2::timestamptz, '9999-01-01Z') AS ends,
                date_bin('1 day', coalesce($2, '9999-01-01Z'), '2001-01-01Z') AS midnight
        )
        SELECT s.account, s.currency, sum(s.debits) AS debits, sum(s.credits) AS credits
        FROM (
            SELECT m.account_kind AS account, m.currency, m.debits, m.credits FROM ledger_sums m
            WHERE m.book_id = $1 AND m.period = 'day' AND m.began_at < (SELECT midnight FROM span)
            UNION ALL
            SELECT m.account_kind, m.currency, m.debits, m.credits FROM ledger_sums m
            WHERE m.book_id = $1 AND m.period = 'quarter'
                AND m.began_at >= (SELECT midnight FROM span)
                AND m.began_at < (SELECT ends FROM span)
            UNION ALL
            SELECT side.kind, t.currency, side.debit, side.credit
            FROM ledger_transfers t
            CROSS JOIN LATERAL (VALUES (t.debit_kind, t.amount::numeric, 0),
                (t.credit_kind, 0, t.amount)) AS side (kind, debit, credit)
            WHERE t.book_id = $1 AND t.id >= (SELECT until FROM summed)
                AND t.happened_at < (SELECT ends FROM span)
        ) s
        GROUP BY 1, 2 ORDER BY 1, 2
        """,
        book_id,
        ends,
    )


# $1 is the book, $2 how many, $3 the entry that the page comes before, $4 and $5 the moments of
# booking: the ids of entries rise with them. $6 is the owner of the business's own accounts, $7 the
# kinds.
_OF_KINDS: LiteralString = " ($7::text[] IS NULL OR t.kind = ANY ($7)) AND"
_WITHIN: LiteralString = """
    t.book_id = $1 AND ($3::uuid IS NULL OR t.id < $3)
        AND t.id >= least_id(coalesce($4::timestamptz, '1970-01-01Z'))
        AND t.id < least_id(coalesce($5::timestamptz, '9999-01-01Z'))
"""
_ENTRY: LiteralString = """
    SELECT t.id, t.kind, t.debit_kind, nullif(t.debit_owner, $6::uuid) AS debit_owner,
        t.credit_kind, nullif(t.credit_owner, $6) AS credit_owner, t.amount, t.currency,
        t.source_type, t.source_id, t.reverses_id, iso(t.happened_at) AS occurred_at,
        iso(t.created_at) AS created_at
    FROM """
_NEWEST: LiteralString = " ORDER BY t.id DESC LIMIT $2"


async def list_entries(db: Db, book_id: BookId, query: EntryQuery) -> Sequence[Record]:
    """A page of all entries, the newest first."""
    return await db.fetch(
        _ENTRY + "ledger_transfers t WHERE" + _OF_KINDS + _WITHIN + _NEWEST,
        *_values(book_id, query),
    )


async def list_entries_by_moment(
    db: Db, book_id: BookId, query: EntryQuery, part: EntryPart
) -> Sequence[Record]:
    """A page of the entries of days on which money moved, the latest moment first.

    The entry that it comes before is one of the book, or the page is empty.
    """
    return await db.fetch(
        _ENTRY
        + "ledger_transfers t WHERE t.book_id = $1 AND"
        + _OF_KINDS
        + """
            t.id >= least_id(coalesce($4::timestamptz, '1970-01-01Z'))
            AND t.id < least_id(coalesce($5::timestamptz, '9999-01-01Z'))
            AND t.happened_at >= coalesce($8::timestamptz, '1970-01-01Z')
            AND t.happened_at < coalesce($9::timestamptz, '9999-01-01Z')
            AND ($3::uuid IS NULL OR (t.happened_at, t.id) < (
                SELECT c.happened_at, c.id FROM ledger_transfers c
                WHERE c.book_id = $1 AND c.id = $3))
            AND ($10::uuid IS NULL OR t.source_id = $10)
            AND ($11::text IS NULL OR t.debit_kind = $11 AND t.debit_owner = $12
                OR t.credit_kind = $11 AND t.credit_owner = $12)
        ORDER BY t.happened_at DESC, t.id DESC LIMIT $2
        """,
        *_values(book_id, query),
        query.moved_since,
        query.moved_until,
        *msgspec.structs.astuple(part),
    )


async def list_entries_of_source(
    db: Db, book_id: BookId, query: EntryQuery, source_id: UUID
) -> Sequence[Record]:
    """A page of the entries of one source, the newest first."""
    return await db.fetch(
        _ENTRY
        + "ledger_transfers t WHERE"
        + _OF_KINDS
        + _WITHIN
        + "AND t.source_id = $8"
        + _NEWEST,
        *_values(book_id, query),
        source_id,
    )


async def list_entries_of_kinds(
    db: Db, book_id: BookId, query: EntryQuery, account: str | None
) -> Sequence[Record]:
    """A page of the entries of rare kinds, perhaps of one account, the newest first.

    The index has the entries of each kind in their order: each gives as many as a page has.
    """
    return await db.fetch(
        _ENTRY
        + "unnest($7::text[]) k CROSS JOIN LATERAL (SELECT t.* FROM ledger_transfers t"
        + " WHERE t.kind NOT IN ('sale', 'payment') AND t.kind = k AND"
        + _WITHIN
        + "AND ($8::text IS NULL OR t.debit_kind = $8 AND t.debit_owner = $6"
        + " OR t.credit_kind = $8 AND t.credit_owner = $6)"
        + _NEWEST
        + ") t"
        + _NEWEST,
        *_values(book_id, query),
        account,
    )


async def list_entries_of_account(
    db: Db, book_id: BookId, query: EntryQuery, account: str, owner: UUID
) -> Sequence[Record]:
    """A page of the entries that debit or credit the account of an owner, the newest first."""
    return await db.fetch(
        _ENTRY
        + "((SELECT t.* FROM ledger_transfers t WHERE t.debit_kind = $8 AND t.debit_owner = $9 AND"
        + _OF_KINDS
        + _WITHIN
        + _NEWEST
        + ") UNION ALL (SELECT t.* FROM ledger_transfers t WHERE t.credit_kind = $8"
        + " AND t.credit_owner = $9 AND NOT (t.debit_kind = $8 AND t.debit_owner = $9) AND"
        + _OF_KINDS
        + _WITHIN
        + _NEWEST
        + ")) t"
        + _NEWEST,
        *_values(book_id, query),
        account,
        owner,
    )


def _values(book_id: BookId, query: EntryQuery) -> tuple[object, ...]:
    # One more than the page has: it tells whether another one follows.
    return (
        book_id, query.limit + 1, query.cursor, query.since, query.until, NO_OWNER, query.kinds
    )  # fmt: skip
