-- Free rooms are counted from indexes alone, where their pages were vacuumed.

DROP INDEX hotel_reservations_to_come;
CREATE INDEX hotel_reservations_to_come ON hotel_reservations
    (book_id, room_type_id, check_in_on, check_out_on, room_id) INCLUDE (id, status, is_room_chosen)
    WHERE status IN ('booked', 'checked_in');
-- The stays that no booking moves to another room.
CREATE INDEX hotel_reservations_kept ON hotel_reservations
    (book_id, room_id, check_in_on, check_out_on)
    WHERE status = 'checked_in' OR status = 'booked' AND is_room_chosen;
