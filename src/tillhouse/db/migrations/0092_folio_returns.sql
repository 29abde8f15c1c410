-- Money of stays that goes back through the payment provider by which it came.

CREATE TABLE folio_returns (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    reservation_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    -- The payment of the stay that goes back, and the provider's.
    payment_id uuid NOT NULL,
    payin_id uuid NOT NULL,
    provider text NOT NULL,
    amount positive_amount NOT NULL,
    reason text,
    status payment_status NOT NULL DEFAULT 'pending',
    -- Held in the wallet, and of the customer's credit, while it is on its way.
    hold_id uuid NOT NULL,
    credit_hold_id uuid NOT NULL,
    provider_refund_id text,
    asked_at timestamptz(3),
    is_unclear boolean NOT NULL DEFAULT false,
    -- The part that the stay no longer had when it went back.
    shortfall numeric NOT NULL DEFAULT 0 CONSTRAINT folio_returns_shortfall_bounds
        CHECK (shortfall >= 0 AND shortfall <= amount),
    -- The part of that which the provider had taken back by itself before.
    taken_before numeric NOT NULL DEFAULT 0 CONSTRAINT folio_returns_taken_before_bounds
        CHECK (taken_before >= 0 AND taken_before <= shortfall),
    failure_reason text,
    -- The refund of the stay that it became.
    refund_id uuid,
    transaction_id uuid,
    recorded_by_id uuid NOT NULL,
    recorded_by_name text NOT NULL,
    created_at timestamptz(3) NOT NULL,
    ended_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations (book_id, id),
    FOREIGN KEY (book_id, customer_id) REFERENCES customers (book_id, id),
    FOREIGN KEY (book_id, payment_id) REFERENCES folio_payments (book_id, id),
    FOREIGN KEY (book_id, payin_id) REFERENCES payins (book_id, id),
    FOREIGN KEY (book_id, refund_id) REFERENCES folio_payments (book_id, id),
    FOREIGN KEY (book_id, transaction_id) REFERENCES transactions (book_id, id)
);
CREATE INDEX folio_returns_of_stay ON folio_returns (book_id, reservation_id, id);
CREATE INDEX folio_returns_of_payin ON folio_returns (book_id, payin_id);
CREATE INDEX folio_returns_on_their_way ON folio_returns (book_id, id) WHERE status = 'pending';
CREATE UNIQUE INDEX folio_returns_provider_key
    ON folio_returns (book_id, provider, provider_refund_id) WHERE provider_refund_id IS NOT NULL;

-- What is on its way back pays nothing any more.
CREATE OR REPLACE FUNCTION asked_of_stay(book uuid, stay uuid)
 RETURNS numeric
 LANGUAGE sql
 STABLE
AS $function$
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
        FROM (
            SELECT m.kind, m.amount FROM folio_payments m
            WHERE m.book_id = book AND m.reservation_id = stay
            UNION ALL
            SELECT 'returning', b.amount FROM folio_returns b
            WHERE b.book_id = book AND b.reservation_id = stay AND b.status = 'pending'
        ) p
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
$function$;
