"""Statements on how many calls fit: by the tallies, whatever the number.

Calls under way are no part of the tallies, and as many as there are slots.
"""

from typing import LiteralString

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId
from tillhouse.kit.spans import span
from tillhouse.voice.calls.store.reading import CallQuery, and_filters

_KIND: LiteralString = " t.status, t.agent_id, t.number_id, t.ended_reason, t.calls "
_KIND_OF_ONE: LiteralString = " c.status, c.agent_id, c.number_id, c.ended_reason, 1 AS calls "
_UNDER_WAY: LiteralString = " c.status IN ('dialing', 'ringing', 'in_progress') "
_EVER: LiteralString = (
    "SELECT"
    + _KIND
    + "FROM voice_call_tallies t WHERE t.book_id = $1 AND t.period = 'ever' UNION ALL SELECT"
    + _KIND_OF_ONE
    + "FROM voice_calls c WHERE c.book_id = $1 AND"
    + _UNDER_WAY
)
# From $2 until before $5; whole days from $3 and $6 until before $4 and $7, among them whole months
# from $8 until before $9.
_BETWEEN: LiteralString = (
    "SELECT"
    + _KIND
    + """FROM voice_call_tallies t WHERE t.book_id = $1 AND (
        t.period = 'month' AND t.day >= $8::date AND t.day < $9::date
        OR t.period = 'day' AND t.day >= $6::date AND t.day < least($7::date, $8)
        OR t.period = 'day' AND t.day >= greatest($6, $9) AND t.day < $7)
    UNION ALL SELECT"""
    + _KIND_OF_ONE
    + """FROM voice_calls c WHERE c.book_id = $1
        AND (c.created_at >= $2::timestamptz AND c.created_at < least($3::timestamptz, $5)
            OR c.created_at >= $4::timestamptz AND c.created_at < $5::timestamptz)
    UNION ALL SELECT"""
    + _KIND_OF_ONE
    + """FROM voice_calls c WHERE c.book_id = $1
        AND c.created_at >= greatest($2, $3) AND c.created_at < least($4, $5) AND"""
    + _UNDER_WAY
)


async def count_found(db: Db, book_id: BookId, query: CallQuery) -> int:
    """How many calls fit that a telephone or a customer names."""
    where = and_filters(Where(book_id), query).and_("c.status = ANY($)", query.statuses)
    return await db.fetchval(
        "SELECT count(*) FROM voice_calls c WHERE c.book_id = $1" + where.sql(), *where.args
    )


async def count_tallied(db: Db, book_id: BookId, query: CallQuery) -> int:
    """How many there are of these kinds, over all time or within some."""
    is_dated = query.since is not None or query.until is not None
    where = (
        (_spanned(book_id, query) if is_dated else Where(book_id))
        .and_("o.status = ANY($)", query.statuses)
        .and_("o.agent_id = $", query.agent_id)
        .and_("o.number_id = $", query.number_id)
        .and_("o.ended_reason = $", query.ended_reason)
    )
    return await db.fetchval(
        "SELECT coalesce(sum(o.calls), 0)::bigint FROM ("
        + (_BETWEEN if is_dated else _EVER)
        + ") o WHERE true"
        + where.sql(),
        *where.args,
    )


def _spanned(book_id: BookId, query: CallQuery) -> Where:
    time = span(query.since, query.until)
    months = time.months
    return Where(
        book_id, time.since, time.begins, time.ends, time.until, time.first, time.after,
        months.first, months.after,
    )  # fmt: skip
