"""The tallies of stays, and how many stays fit."""

from typing import LiteralString

from tillhouse.db.folding import Folding, Tally
from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.hotel.reservations.store.reading import ReservationQuery
from tillhouse.kit.ids import BookId
from tillhouse.kit.spans import span_of_days

# From day $3 until before $4, among them whole months from $5 until before $6.
_WITHIN: LiteralString = """
    SELECT t.status, t.stays FROM hotel_stay_tallies t
    WHERE t.book_id = $1 AND t.side = $2 AND (
        t.period = 'month' AND t.day >= $5::date AND t.day < $6::date
        OR t.period = 'day' AND t.day >= $3::date AND t.day < least($4::date, $5)
        OR t.period = 'day' AND t.day >= greatest($3, $6) AND t.day < $4)
    UNION ALL SELECT c.status, c.stays FROM hotel_stay_tally_changes c
    CROSS JOIN LATERAL (SELECT CASE $2 WHEN 'arrival' THEN c.check_in_on ELSE c.check_out_on END)
        d (day)
    WHERE c.book_id = $1 AND d.day >= $3 AND d.day < $4
"""


# A stay counts by its arrival and by its departure, each on its day and in its month.
STAY_TALLIES = Folding(
    "hotel_stay_tally_changes",
    Tally(
        "hotel_stay_tallies",
        key="hotel_stay_tallies_pkey",
        kinds=(
            ("side", "p.side"),
            ("period", "p.period"),
            ("day", "p.day"),
            ("status", "g.status"),
            ("room_type_id", "g.room_type_id"),
        ),
        sums=("stays",),
        also=""", LATERAL (VALUES
            ('arrival', 'day', g.check_in_on),
            ('arrival', 'month', date_trunc('month', g.check_in_on)::date),
            ('departure', 'day', g.check_out_on),
            ('departure', 'month', date_trunc('month', g.check_out_on)::date)
        ) p (side, period, day)""",
    ),
)


async def count_tallied(db: Db, book_id: BookId, query: ReservationQuery) -> int:
    """How many stays there are of some statuses, over all time or within days of one side."""
    departs = query.departs_from is not None or query.departs_to is not None
    since, until = (query.departs_from, query.departs_to) if departs else (query.since, query.until)
    days = span_of_days(since, until)
    months = days.months
    side = "departure" if departs else "arrival"
    where = Where(book_id, side, days.first, days.after, months.first, months.after)
    where.and_("o.status = ANY($)", query.status)
    return await db.fetchval(
        "SELECT coalesce(sum(o.stays), 0)::bigint FROM ("
        + _WITHIN
        + ") o WHERE true"
        + where.sql(),
        *where.args,
    )
