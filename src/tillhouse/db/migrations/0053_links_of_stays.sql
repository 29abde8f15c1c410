-- Payment links that pay for a stay.

ALTER TABLE payment_links
    DROP CONSTRAINT payment_links_target_type_known,
    DROP CONSTRAINT payment_links_targets,
    ADD CONSTRAINT payment_links_target_type_known
        CHECK (target_type IN ('sale', 'debt', 'wallet', 'reservation')),
    ADD CONSTRAINT payment_links_targets
        CHECK ((target_type = 'wallet') = (target_id IS NULL)
            AND (target_type IN ('wallet', 'reservation')) = (order_id IS NULL));

-- The amount that a stay asks for: so much that its deposit has come in, and that its guest's
-- orders are paid, together with the money of the folio that is unspent.
CREATE FUNCTION asked_of_stay(book uuid, stay uuid) RETURNS numeric LANGUAGE sql STABLE AS $$
    WITH held AS (
        SELECT o.id, o.customer_id, CASE WHEN o.deleted_at IS NULL
                AND o.status IN ('pending', 'completed') THEN o.remaining_amount ELSE 0 END AS owed,
            coalesce((SELECT sum(u.amount) FROM folio_uses u
                WHERE u.book_id = book AND u.reservation_id = stay AND u.order_id = o.id), 0)
                AS used,
            o.credit_amount - CASE
                WHEN o.deleted_at IS NOT NULL OR o.status = 'cancelled'
                    THEN o.amount_paid - o.change_amount
                WHEN o.status = 'scheduled' THEN 0
                ELSE greatest(o.amount_paid - o.total_amount + o.refunded_amount, 0)
                    - o.change_amount END AS needed
        FROM orders o WHERE o.book_id = book AND o.hotel_reservation_id = stay
    ), paid AS (
        SELECT coalesce(sum(CASE WHEN p.kind = 'payment' THEN p.amount ELSE -p.amount END), 0)
            AS amount
        FROM folio_payments p WHERE p.book_id = book AND p.reservation_id = stay
    )
    SELECT greatest(0,
        CASE WHEN r.status IN ('booked', 'checked_in') THEN r.deposit_amount - paid.amount END,
        coalesce((SELECT sum(h.owed) FROM held h WHERE h.customer_id = g.customer_id), 0)
            - paid.amount
            + coalesce((SELECT sum(greatest(least(h.used, h.needed), 0)) FROM held h), 0))
    FROM hotel_reservations r
    JOIN hotel_guests g ON g.book_id = r.book_id AND g.id = r.guest_id
    CROSS JOIN paid
    WHERE r.book_id = book AND r.id = stay
$$;
