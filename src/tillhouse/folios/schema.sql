-- How a hotel keeps its days; a book without a row keeps them as the defaults say.
CREATE TABLE hotel_settings (
    book_id uuid PRIMARY KEY REFERENCES books,
    check_in_time text NOT NULL,
    check_out_time text NOT NULL,
    -- The night before is audited from then on.
    audit_time text NOT NULL,
    no_show text NOT NULL CONSTRAINT hotel_settings_no_show_known
        CHECK (no_show IN ('keep', 'release')),
    updated_at timestamptz(3) NOT NULL
);

-- The order that a night became.
CREATE TABLE folio_nights (
    book_id uuid NOT NULL,
    reservation_id uuid NOT NULL,
    night_on date NOT NULL,
    order_id uuid NOT NULL,
    -- Once, whoever posts it.
    PRIMARY KEY (book_id, reservation_id, night_on),
    UNIQUE (book_id, order_id),
    FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations (book_id, id),
    FOREIGN KEY (book_id, order_id) REFERENCES orders (book_id, id)
);

-- Money that came in for a stay, or left it again.
CREATE TABLE folio_payments (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    reservation_id uuid NOT NULL,
    -- Whose credit it became.
    customer_id uuid NOT NULL,
    kind text NOT NULL CONSTRAINT folio_payments_kind_known
        CHECK (kind IN ('payment', 'refund', 'reversal')),
    method transaction_method NOT NULL,
    amount positive_amount NOT NULL,
    reference text,
    reason text,
    transaction_id uuid NOT NULL,
    -- The payment link that it came through, and the receipt of a provider that it is.
    link_id uuid,
    receipt_id uuid,
    recorded_by_id uuid NOT NULL,
    recorded_by_name text NOT NULL,
    happened_at timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations (book_id, id),
    FOREIGN KEY (book_id, customer_id) REFERENCES customers (book_id, id),
    FOREIGN KEY (book_id, transaction_id) REFERENCES transactions (book_id, id),
    FOREIGN KEY (book_id, receipt_id) REFERENCES payins (book_id, id)
);
-- The payments of a stay, as its folio lists them.
CREATE INDEX folio_payments_of_reservation ON folio_payments (book_id, reservation_id, id);
-- The payment of a stay behind a transaction.
CREATE INDEX folio_payments_by_transaction ON folio_payments (book_id, transaction_id);
-- Money that a provider told of is a payment of a stay once.
CREATE UNIQUE INDEX folio_payments_receipt_key ON folio_payments (book_id, receipt_id)
    WHERE receipt_id IS NOT NULL AND kind = 'payment';

-- The part of a folio's money that pays an order of the stay; below zero: taken back from it.
CREATE TABLE folio_uses (
    book_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    reservation_id uuid NOT NULL,
    order_id uuid NOT NULL,
    -- Whose money it was.
    customer_id uuid NOT NULL,
    amount signed_amount NOT NULL,
    created_at timestamptz(3) NOT NULL,
    -- The payment, or the correction, of the order.
    PRIMARY KEY (book_id, payment_id),
    FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations (book_id, id),
    FOREIGN KEY (book_id, order_id, payment_id) REFERENCES payments (book_id, order_id, id),
    FOREIGN KEY (book_id, customer_id) REFERENCES customers (book_id, id)
);
-- The charges that the payments of a stay went to.
CREATE INDEX folio_uses_of_reservation ON folio_uses (book_id, reservation_id, order_id);

-- The audit of a business day: begun once, finished once.
CREATE TABLE hotel_audits (
    book_id uuid NOT NULL REFERENCES books,
    day date NOT NULL,
    nights integer NOT NULL DEFAULT 0,
    -- The sum of the nights that it posted.
    amount numeric NOT NULL DEFAULT 0,
    no_shows integer NOT NULL DEFAULT 0,
    -- Stays that are in the house after their last night.
    overdue integer NOT NULL DEFAULT 0,
    started_at timestamptz(3) NOT NULL,
    finished_at timestamptz(3),
    PRIMARY KEY (book_id, day)
);

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
-- The money of a stay that goes back.
CREATE INDEX folio_returns_of_stay ON folio_returns (book_id, reservation_id, id);
-- What goes back of one payment through its provider.
CREATE INDEX folio_returns_of_payin ON folio_returns (book_id, payin_id);
-- Those whose outcome is open are asked for.
CREATE INDEX folio_returns_on_their_way ON folio_returns (book_id, id) WHERE status = 'pending';
-- A provider's refund is one of ours once.
CREATE UNIQUE INDEX folio_returns_provider_key
    ON folio_returns (book_id, provider, provider_refund_id) WHERE provider_refund_id IS NOT NULL;

-- The amount that a stay asked for before a change: when its deposit was so much larger, so much
-- less had come in, and so much more was owed for its orders.
CREATE FUNCTION asked_of_stay_before(book uuid, stay uuid, deposit numeric, came numeric,
    owed numeric) RETURNS numeric LANGUAGE sql STABLE AS $$
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
            - came AS amount
        FROM (
            SELECT m.kind, m.amount FROM folio_payments m
            WHERE m.book_id = book AND m.reservation_id = stay
            UNION ALL
            SELECT 'returning', b.amount FROM folio_returns b
            WHERE b.book_id = book AND b.reservation_id = stay AND b.status = 'pending'
        ) p
    )
    SELECT greatest(0,
        CASE WHEN r.status IN ('booked', 'checked_in')
            THEN r.deposit_amount + deposit - paid.amount END,
        coalesce((SELECT sum(h.owed) FROM held h WHERE h.customer_id = g.customer_id), 0)
            + owed - paid.amount
            + coalesce((SELECT sum(greatest(least(h.used, h.needed), 0)) FROM held h), 0))
    FROM hotel_reservations r
    JOIN hotel_guests g ON g.book_id = r.book_id AND g.id = r.guest_id
    CROSS JOIN paid
    WHERE r.book_id = book AND r.id = stay
$$;

-- What is on its way back pays nothing any more.
CREATE FUNCTION asked_of_stay(book uuid, stay uuid)
RETURNS numeric LANGUAGE sql STABLE AS $$
    SELECT asked_of_stay_before(book, stay, 0, 0, 0)
$$;
