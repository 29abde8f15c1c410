"""A hotel as its tables hold it: rooms, guests, stays and what guests asked for."""

from uuid import UUID

import asyncpg
import msgspec

TYPES = 10
# Of a hotel whose stays lie in the years before and the months after today.
_ROOM_PER_ROWS, _ROOMS_MIN, _PAST = 1_000, 20, 0.9


class House(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a hotel, and how its stays follow each other in each room."""

    rooms: int
    stays: int
    # From one arrival in a room to the next, and the longest stay.
    days: int
    # The stays of each room that are over; the next one is in the house.
    past: int = 0
    types: int = TYPES


async def fill_large(connection: asyncpg.Connection, book_id: UUID, rows: int) -> None:
    """So many stays, nine in ten of them over; half as many wishes, a quarter as many guests."""
    rooms = max(_ROOMS_MIN, rows // _ROOM_PER_ROWS)
    past = int(rows / rooms * _PAST)
    await fill(connection, book_id, House(rooms=rooms, stays=rows, days=2, past=past))


async def fill(connection: asyncpg.Connection, book_id: UUID, house: House) -> None:
    """Fill a book that has no hotel yet."""
    guests = max(1_000, house.stays // 4)
    await connection.execute(_ROOM_TYPES, book_id, house.types)
    await connection.execute(_ROOMS, book_id, house.rooms)
    await connection.execute(_CUSTOMERS, book_id, guests)
    await connection.execute(_GUESTS, book_id)
    await connection.execute(
        _STAYS, book_id, house.rooms, house.stays, house.days, house.past, guests
    )
    await connection.execute(_TALLIES, book_id)
    await connection.execute(_REQUESTS, book_id, house.stays // 2, house.rooms)
    await connection.execute(_AUDITS, book_id, house.past * house.days)


_ROOM_TYPES = """
    INSERT INTO hotel_room_types (book_id, id, name, capacity, rate, created_at, updated_at)
    SELECT $1, new_id(now()), 'Type ' || n, 4, 10000 + n * 1000, now(), now()
    FROM generate_series(1, $2::integer) n
"""
_ROOMS = """
    INSERT INTO hotel_rooms (book_id, id, room_type_id, number, floor, status, created_at,
        updated_at)
    SELECT $1, new_id(now()), t.ids[1 + n % cardinality(t.ids)], (1000 + n)::text,
        (n / 50)::text, CASE WHEN n % 100 = 99 THEN 'out_of_service' ELSE 'clean' END, now(), now()
    FROM generate_series(0, $2::integer - 1) n
    CROSS JOIN (SELECT array_agg(id ORDER BY id) AS ids FROM hotel_room_types
        WHERE book_id = $1) t
"""
_CUSTOMERS = """
    INSERT INTO customers (book_id, id, name, phone_number, created_at, updated_at)
    SELECT $1, new_id(now()),
        (ARRAY['Ada', 'Bola', 'Chidi', 'Dayo', 'Emeka', 'Fatima', 'Grace', 'Halima', 'Ife',
            'Jide'])[1 + n % 10] || ' '
            || (ARRAY['Ahmed', 'Bello', 'Cole', 'Danjuma', 'Eze', 'Falana', 'Garba', 'Hassan',
            'Idowu', 'Johnson'])[1 + n / 10 % 10] || ' ' || substr(md5(n::text), 1, 5),
        '+234803' || lpad(n::text, 7, '0'), now(), now()
    FROM generate_series(1, $2::integer) n
"""
_GUESTS = """
    INSERT INTO hotel_guests (book_id, id, customer_id, name, created_at, updated_at)
    SELECT book_id, new_id(now()), id, name, now(), now() FROM customers WHERE book_id = $1
"""
# The stays of a room follow each other, in each room on other days; those of turn 0 are in the
# house. One guest in ten chose the room. A closed room has no stay.
_STAYS = """
    WITH rooms AS (
        SELECT id, room_type_id, row_number() OVER (ORDER BY id) - 1 AS place
        FROM hotel_rooms WHERE book_id = $1 AND status <> 'out_of_service'
    ), guests AS (
        SELECT id, name, row_number() OVER (ORDER BY id) - 1 AS place
        FROM hotel_guests WHERE book_id = $1
    ), drawn AS (
        SELECT n, n % $2::integer AS room, (n / $2) - $5::integer AS turn,
            hashint8(n) & 1023 AS chance, hashint8(n * 7) & 1048575 AS other,
            now() - interval '5 years' * ((($3)::integer - n)::float8 / $3) AS at
        FROM generate_series(0, $3 - 1) n
    ), dated AS (
        SELECT d.*, current_date + d.turn * $4::integer - d.room % $4 AS begins,
            1 + d.other % $4 AS length,
            CASE WHEN d.turn > 0 THEN 'booked' WHEN d.turn = 0 THEN 'checked_in'
                WHEN d.chance < 60 THEN 'cancelled'
                WHEN d.chance < 90 THEN 'no_show' ELSE 'checked_out' END AS status
        FROM drawn d
    )
    INSERT INTO hotel_reservations (book_id, id, short_code, status, guest_id, guest_name,
        room_type_id, room_id, adults, children, check_in_on, check_out_on, nights, taxes,
        total_amount, deposit_amount, currency, source, checked_in_at, checked_out_at,
        cancelled_at, no_show_at, is_room_chosen, created_at, updated_at)
    SELECT $1, new_id(d.at), upper(lpad(to_hex(d.n), 8, '0')), d.status, g.id, g.name,
        r.room_type_id, r.id, 1 + d.other % 2, 0, d.begins, d.begins + d.length,
        (SELECT jsonb_agg(jsonb_build_object('date', (d.begins + i)::text, 'price', 10000))
            FROM generate_series(0, d.length - 1) i),
        '[]', 10000 * d.length, 0, 'NGN', 'front_desk',
        CASE WHEN d.status IN ('checked_in', 'checked_out') THEN d.at END,
        CASE d.status WHEN 'checked_out' THEN d.at END,
        CASE d.status WHEN 'cancelled' THEN d.at END, CASE d.status WHEN 'no_show' THEN d.at END,
        d.chance % 10 = 0, d.at, d.at
    FROM dated d JOIN rooms r ON r.place = d.room JOIN guests g ON g.place = d.other % $6::integer
"""
_TALLIES = """
    INSERT INTO hotel_stay_tallies (book_id, side, period, day, status, room_type_id,
        stays)
    SELECT v.book_id, p.side, p.period, p.day, v.status, v.room_type_id, count(*)
    FROM hotel_reservations v
    CROSS JOIN LATERAL (VALUES ('arrival', v.check_in_on), ('departure', v.check_out_on))
        s (side, day)
    CROSS JOIN LATERAL (VALUES (s.side, 'day', s.day),
        (s.side, 'month', date_trunc('month', s.day)::date)) p (side, period, day)
    WHERE v.book_id = $1 GROUP BY 1, 2, 3, 4, 5, 6
"""
_REQUESTS = """
    WITH rooms AS (
        SELECT id, row_number() OVER (ORDER BY id) - 1 AS place
        FROM hotel_rooms WHERE book_id = $1
    ), drawn AS (
        SELECT n, hashint8(n) & 1048575 AS chance, hashint8(n * 7) & 1048575 AS other,
            now() - interval '5 years' * ((($2)::integer - n)::float8 / $2) AS at
        FROM generate_series(0, $2 - 1) n
    )
    INSERT INTO hotel_service_requests (book_id, id, category, status, source, description,
        room_id, ended_at, created_at, updated_at)
    SELECT $1, new_id(d.at), (ARRAY['housekeeping', 'maintenance', 'food', 'transport', 'laundry',
            'other'])[1 + d.other % 6], s.status, 'guest', 'Two towels', r.id,
        CASE WHEN s.status IN ('done', 'cancelled') THEN d.at END, d.at, d.at
    FROM drawn d JOIN rooms r ON r.place = d.other % $3::integer
    CROSS JOIN LATERAL (SELECT CASE
        WHEN d.n > $2 * 0.999 THEN 'open' WHEN d.chance % 1000 = 0 THEN 'in_progress'
        WHEN d.chance % 20 = 1 THEN 'cancelled' ELSE 'done' END AS status) s
"""
_AUDITS = """
    INSERT INTO hotel_audits (book_id, day, nights, amount, started_at, finished_at)
    SELECT $1, current_date - n, 10, 100000, now(), now() FROM generate_series(1, $2::integer) n
"""
