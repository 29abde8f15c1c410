-- Bookings may change rooms, so that another one finds a room that is free throughout.

-- Whether the very room was asked for, or given by a move. Of bookings that are there already
-- nobody knows: they keep their rooms.
ALTER TABLE hotel_reservations ADD COLUMN is_room_chosen boolean NOT NULL DEFAULT true;
ALTER TABLE hotel_reservations ALTER COLUMN is_room_chosen SET DEFAULT false;

-- Judged at the end of each statement: stays that swap rooms have both for a moment.
ALTER TABLE hotel_reservations
    DROP CONSTRAINT hotel_reservations_room_taken,
    ADD CONSTRAINT hotel_reservations_room_taken EXCLUDE USING gist (
        book_id WITH =, room_id WITH =, daterange(check_in_on, check_out_on) WITH &&
    ) WHERE (status IN ('booked', 'checked_in')) DEFERRABLE;
