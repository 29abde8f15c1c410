-- Bills of stays are kept as receipts are: what one said when it was made, and its number.

ALTER TABLE receipts
    ADD COLUMN reservation_id uuid,
    ADD FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations (book_id, id),
    DROP CONSTRAINT receipts_are_of_one,
    ADD CONSTRAINT receipts_are_of_one
        CHECK (num_nonnulls(order_id, transaction_id, reservation_id) = 1);

CREATE UNIQUE INDEX receipts_of_stay ON receipts (book_id, reservation_id, number)
    WHERE reservation_id IS NOT NULL;
