"""Statements that read reservations, one and a page of them; and a reservation from its row."""

from collections.abc import Sequence
from datetime import date
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.hotel.rates.rules import read_taxes
from tillhouse.hotel.reservations.types import Night, Reservation
from tillhouse.kit.ids import BookId
from tillhouse.kit.page import Walk

SHOWN: LiteralString = """
    SELECT v.id, v.short_code, v.status, v.group_id, v.guest_id, v.guest_name, g.customer_id,
        v.room_type_id, t.name AS room_type_name, v.room_id, r.number AS room_number,
        v.is_room_chosen,
        v.rate_plan_id, v.adults, v.children, v.check_in_on::text AS check_in_date,
        v.check_out_on::text AS check_out_date, v.nights::text AS nights,
        v.taxes::text AS taxes, v.total_amount, v.deposit_amount, v.currency, v.source, v.notes,
        iso(v.confirmed_at) AS confirmed_at, iso(v.checked_in_at) AS checked_in_at,
        iso(v.checked_out_at) AS checked_out_at, iso(v.cancelled_at) AS cancelled_at,
        iso(v.no_show_at) AS no_show_at, v.cancel_reason,
        iso(v.created_at) AS created_at, iso(v.updated_at) AS updated_at
"""
"""The columns of a reservation `v`, with the columns that `SHOWN_FROM` joins."""
SHOWN_FROM: LiteralString = """
    JOIN hotel_guests g ON g.book_id = v.book_id AND g.id = v.guest_id
    JOIN hotel_rooms r ON r.book_id = v.book_id AND r.id = v.room_id
    JOIN hotel_room_types t ON t.book_id = v.book_id AND t.id = v.room_type_id
"""
_NIGHTS = msgspec.json.Decoder(list[Night])


class ReservationQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on reservations; an absent one (None) lets all pass."""

    status: list[str] | None = None
    since: date | None = None
    until: date | None = None
    departs_from: date | None = None
    departs_to: date | None = None
    room_id: UUID | None = None
    guest_id: UUID | None = None
    group_id: UUID | None = None
    # A search: a code, and words of the guest's name, with letters that each such name has.
    code: str | None = None
    words: str | None = None
    letters: Sequence[str] = ()

    @property
    def is_tallied(self) -> bool:
        """Whether the tallies know all that it asks for: statuses, and days of one side."""
        if any((self.room_id, self.guest_id, self.group_id, self.code)):
            return False
        arrives, departs = (self.since, self.until), (self.departs_from, self.departs_to)
        return not (any(arrives) and any(departs))


def and_filters(where: Where, query: ReservationQuery) -> Where:
    """Add the filters but for the statuses and the search."""
    return (
        where.and_("v.check_in_on >= $", query.since)
        .and_("v.check_in_on <= $", query.until)
        .and_("v.check_out_on >= $", query.departs_from)
        .and_("v.check_out_on <= $", query.departs_to)
        .and_("v.room_id = $", query.room_id)
        .and_("v.guest_id = $", query.guest_id)
        .and_("v.group_id = $", query.group_id)
    )


def and_words(where: Where, query: ReservationQuery, letters: Sequence[str] = ()) -> Where:
    """Add the search: a code, or a name that has the words, and before them these letters."""
    asked = " customer_query($1, " + where.slot(query.words) + ")"
    # A query of mere punctuation leaves only the book, which every guest matches.
    named: LiteralString = " numnode(" + asked + ") > $"
    for one in letters:
        named += " AND strpos(lower(v.guest_name), lower(" + where.slot(one) + "::text)) > 0"
    named += " AND customer_words(v.book_id, v.guest_name) @@" + asked
    return where.and_("v.short_code = " + where.slot(query.code) + " OR " + named, 1)


def _where(book_id: BookId, query: ReservationQuery) -> Where:
    """All conditions but the words of a search."""
    where = Where(book_id).and_("v.status = ANY($)", query.status)
    return and_filters(where, query).and_("v.short_code = $", query.code)


async def show_reservation(db: Db, book_id: BookId, reservation_id: UUID) -> Record | None:
    """One reservation."""
    return await db.fetchrow(
        SHOWN + " FROM hotel_reservations v " + SHOWN_FROM + " WHERE v.book_id = $1 AND v.id = $2",
        book_id,
        reservation_id,
    )


async def count_found(db: Db, book_id: BookId, query: ReservationQuery) -> int:
    """How many reservations fit, where the tallies don't know all that is asked for."""
    where = _where(book_id, query)
    return await db.fetchval(
        "SELECT count(*) FROM hotel_reservations v WHERE v.book_id = $1" + where.sql(),
        *where.args,
    )


async def list_reservations(
    db: Db, book_id: BookId, query: ReservationQuery, way: Walk
) -> Sequence[Record]:
    """One page of those that fit, the newest first; only its rows are looked up whole."""
    where = _where(book_id, query)
    return await db.fetch(
        SHOWN
        + " FROM hotel_reservations v "
        + SHOWN_FROM
        + " WHERE v.book_id = $1 AND v.id IN ("
        + "SELECT v.id FROM hotel_reservations v WHERE v.book_id = $1"
        + where.sql()
        + (" ORDER BY v.id LIMIT " if way.is_from_last else " ORDER BY v.id DESC LIMIT ")
        + where.slot(way.count)
        + " OFFSET "
        + where.slot(way.skipped)
        + ") ORDER BY v.id DESC",
        *where.args,
    )


async def list_found(db: Db, book_id: BookId, ids: Sequence[UUID]) -> Sequence[Record]:
    """The reservations that a search found, the newest first."""
    return await db.fetch(
        SHOWN
        + " FROM hotel_reservations v "
        + SHOWN_FROM
        + " WHERE v.book_id = $1 AND v.id = ANY($2) ORDER BY v.id DESC",
        book_id,
        [*ids],
    )


def shown(row: Record) -> Reservation:
    """A reservation from its row."""
    fields: dict[str, Any] = dict(row)
    fields["nights"] = _NIGHTS.decode(row["nights"])
    fields["taxes"] = read_taxes(row["taxes"])
    return Reservation(**fields)
