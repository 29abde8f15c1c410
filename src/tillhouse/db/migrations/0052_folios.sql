-- Folios: what stays owe, what was paid for them, and the audits of nights.

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
CREATE INDEX folio_payments_of_reservation ON folio_payments (book_id, reservation_id, id);
CREATE INDEX folio_payments_by_transaction ON folio_payments (book_id, transaction_id);
CREATE UNIQUE INDEX folio_payments_receipt_key ON folio_payments (book_id, receipt_id, kind)
    WHERE receipt_id IS NOT NULL;

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

-- An order on a stay that ends at the same moment waits for that, or the stay for the order:
-- nothing is charged to a stay that is over.
ALTER TABLE orders
    ADD FOREIGN KEY (book_id, hotel_reservation_id) REFERENCES hotel_reservations (book_id, id),
    ADD FOREIGN KEY (book_id, hotel_room_id) REFERENCES hotel_rooms (book_id, id);
CREATE INDEX orders_of_stay ON orders (book_id, hotel_reservation_id)
    WHERE hotel_reservation_id IS NOT NULL;
CREATE FUNCTION check_stay_of_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM hotel_reservations r
    WHERE r.book_id = NEW.book_id AND r.id = NEW.hotel_reservation_id
        AND r.status IN ('booked', 'checked_in')
    FOR SHARE;
    IF NOT FOUND THEN
        -- As if the table had the CONSTRAINT orders_on_open_stay, which no CHECK can say.
        RAISE EXCEPTION 'the stay is over' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'orders_on_open_stay';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER orders_are_on_open_stays BEFORE INSERT ON orders
    FOR EACH ROW WHEN (NEW.hotel_reservation_id IS NOT NULL)
    EXECUTE FUNCTION check_stay_of_order();
