-- Stays that their guest confirmed, and calls about one.
ALTER TABLE hotel_reservations ADD COLUMN confirmed_at timestamptz(3);

ALTER TABLE voice_calls ADD COLUMN reservation_id uuid,
    ADD FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations (book_id, id);
