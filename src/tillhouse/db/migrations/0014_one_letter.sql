-- One letter of a search is the beginning of a thirtieth of all short codes, wherever they lie.
CREATE INDEX orders_by_letter ON orders (book_id, left(short_code, 1), occurred_at, id)
    INCLUDE (status, payment_status, channel, payment_method, service_mode, store_id,
        is_automated, channel_fulfilled_at, recorded_by_id, served_by_id, academic_term_id,
        total_amount, remaining_amount, customer_id, short_code)
    WHERE deleted_at IS NULL;
