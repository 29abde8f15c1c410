-- Vocabularies and bounds are domains, whose checks are made ready once in a session, as in the
-- ledger.
CREATE DOMAIN order_status AS text CONSTRAINT order_status_known CHECK (VALUE IN (
    'scheduled', 'pending', 'completed', 'cancelled', 'refunded'));

CREATE DOMAIN order_payment_method AS text CONSTRAINT order_payment_method_known CHECK (VALUE IN (
    'cash', 'transfer', 'pos', 'cloove_pay', 'credit', 'other'));

CREATE DOMAIN order_channel AS text CONSTRAINT order_channel_known CHECK (VALUE IN (
    'in_person', 'whatsapp', 'instagram', 'tiktok', 'telegram', 'twitter', 'storefront',
    'dashboard', 'checkout', 'voice', 'other'));

CREATE DOMAIN order_service_mode AS text CONSTRAINT order_service_mode_known CHECK (VALUE IN (
    'dine_in', 'takeaway', 'room_service'));

CREATE DOMAIN order_stock_state AS text CONSTRAINT order_stock_state_known CHECK (VALUE IN (
    'none', 'reserved', 'taken'));

CREATE DOMAIN order_line_type AS text CONSTRAINT order_line_type_known CHECK (VALUE IN (
    'product', 'fee'));

CREATE DOMAIN order_quantity AS numeric CONSTRAINT order_quantity_bounds
    CHECK (VALUE > 0 AND VALUE < 1e9);

-- Payments and refunds of an order are rows, and what an order holds of its money is in columns.
CREATE DOMAIN payment_kind AS text CONSTRAINT payment_kind_known CHECK (VALUE IN (
    'payment', 'correction'));

CREATE DOMAIN payment_status AS text CONSTRAINT payment_status_known CHECK (VALUE IN (
    'pending', 'successful', 'failed', 'reversed'));

-- Lists find an order by each method that it was paid by, and sum what came in by each.
CREATE FUNCTION payment_method_bit(method text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE method WHEN 'cash' THEN 1 WHEN 'transfer' THEN 2 WHEN 'pos' THEN 4
        WHEN 'cloove_pay' THEN 8 WHEN 'credit' THEN 16 WHEN 'other' THEN 32 END
$$;

-- Sales, with all that is told of them in lists.
CREATE TABLE orders (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    short_code text COLLATE "C" NOT NULL,
    -- Stays for ever: a till that was offline for a week may send an order again.
    idempotency_key text,
    -- What the request was: the key with another one is a mistake.
    idempotency_fingerprint bytea,
    status order_status NOT NULL,
    summary text NOT NULL,
    currency text NOT NULL,
    subtotal_amount order_amount NOT NULL,
    discount_amount order_amount NOT NULL,
    service_charge_amount order_amount NOT NULL,
    -- All tax; the part that is not within the prices is what the total adds.
    tax_amount order_amount NOT NULL,
    exclusive_tax_amount order_amount NOT NULL,
    adjustment_amount numeric NOT NULL DEFAULT 0,
    total_amount order_amount NOT NULL,
    amount_paid order_amount NOT NULL,
    payment_method order_payment_method NOT NULL,
    customer_id uuid,
    store_id uuid,
    channel order_channel NOT NULL,
    channel_fulfilled_at timestamptz(3),
    is_automated boolean NOT NULL DEFAULT false,
    scheduled_at timestamptz(3),
    scheduled_confirmed_at timestamptz(3),
    service_mode order_service_mode,
    table_session_id uuid,
    table_label text,
    covers integer,
    hotel_reservation_id uuid,
    hotel_room_id uuid,
    academic_term_id uuid,
    promotion_id uuid,
    -- Whose use of it was counted: gets it back.
    promotion_customer_id uuid,
    tag_ids uuid[] NOT NULL DEFAULT '{}',
    notes text,
    -- Who recorded it: a person, or the key of a program with its name at the time.
    recorded_by_id uuid NOT NULL,
    recorded_by_name text NOT NULL,
    served_by_id uuid,
    entry_source text NOT NULL,
    recovery_session_id text,
    cancellation jsonb,
    -- Whether the kitchen gets it by itself when its time comes.
    wants_kitchen boolean NOT NULL DEFAULT false,
    fires_at timestamptz(3),
    -- What its lines hold of the stock at present, and the how manieth time they took it.
    stock_state order_stock_state NOT NULL DEFAULT 'none',
    stock_round integer NOT NULL DEFAULT 0,
    -- Postings so far: the sequence of the next transfer for this order.
    postings integer NOT NULL DEFAULT 0,
    occurred_at timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    -- The part of the amount paid that was handed out again in cash.
    change_amount order_amount NOT NULL DEFAULT 0,
    -- The part of the sale that was given back: what is due is the total less that.
    refunded_amount order_amount NOT NULL DEFAULT 0,
    -- The credit of the customer in the amount paid, less what was refunded as credit.
    credit_amount numeric NOT NULL DEFAULT 0,
    tip_amount order_amount NOT NULL DEFAULT 0,
    payment_status text NOT NULL GENERATED ALWAYS AS (
        CASE WHEN amount_paid >= total_amount - refunded_amount THEN 'paid'
            WHEN amount_paid > 0 THEN 'partial' ELSE 'pending' END) STORED,
    remaining_amount numeric NOT NULL GENERATED ALWAYS AS (
        greatest(total_amount - refunded_amount - amount_paid, 0)) STORED,
    -- What an order holds by each method: payments less corrections, refunds and, of cash, change.
    -- Null: it was never paid so.
    paid_by_cash numeric,
    paid_by_transfer numeric,
    paid_by_pos numeric,
    paid_by_cloove_pay numeric,
    paid_by_credit numeric,
    paid_by_other numeric,
    -- The bits of the order's own method and of those that it was paid by.
    payment_methods smallint NOT NULL GENERATED ALWAYS AS ((
        payment_method_bit(payment_method)
        | CASE WHEN paid_by_cash IS NULL THEN 0 ELSE 1 END
        | CASE WHEN paid_by_transfer IS NULL THEN 0 ELSE 2 END
        | CASE WHEN paid_by_pos IS NULL THEN 0 ELSE 4 END
        | CASE WHEN paid_by_cloove_pay IS NULL THEN 0 ELSE 8 END
        | CASE WHEN paid_by_credit IS NULL THEN 0 ELSE 16 END
        | CASE WHEN paid_by_other IS NULL THEN 0 ELSE 32 END)::smallint) STORED,
    -- The sum of an order's refunds that are on their way: its row is what changes of it are
    -- locked by.
    returning_amount order_amount NOT NULL DEFAULT 0,
    -- Since when an order that was completed with an automated deposit is pending again: it can't
    -- be cancelled until that deposit went back, whatever else was changed meanwhile.
    reopened_at timestamp(3) with time zone,
    PRIMARY KEY (book_id, id),
    CONSTRAINT orders_short_code_key UNIQUE (book_id, short_code),
    CONSTRAINT orders_add_up CHECK (
        total_amount = subtotal_amount - discount_amount + service_charge_amount
            + exclusive_tax_amount + adjustment_amount),
    FOREIGN KEY (book_id, customer_id) REFERENCES customers (book_id, id),
    FOREIGN KEY (book_id, store_id) REFERENCES stores (book_id, id),
    FOREIGN KEY (book_id, table_session_id) REFERENCES table_sessions (book_id, id),
    FOREIGN KEY (book_id, academic_term_id) REFERENCES academic_terms (book_id, id),
    FOREIGN KEY (book_id, promotion_id) REFERENCES promotions (book_id, id),
    CONSTRAINT orders_change_within_paid CHECK (change_amount <= amount_paid),
    CONSTRAINT orders_refunded_within_total CHECK (refunded_amount <= total_amount),
    -- An order on a stay that ends at the same moment waits for that, or the stay for the order:
    -- nothing is charged to a stay that is over.
    FOREIGN KEY (book_id, hotel_reservation_id) REFERENCES hotel_reservations (book_id, id),
    FOREIGN KEY (book_id, hotel_room_id) REFERENCES hotel_rooms (book_id, id)
) WITH (fillfactor = 85);
-- A request that is sent again finds the order that it made.
CREATE UNIQUE INDEX orders_idempotency_key ON orders (book_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
-- But one person's few cancelled orders lie on the days of everybody's.
CREATE INDEX orders_by_status ON orders (book_id, status, occurred_at, id)
    WHERE deleted_at IS NULL AND status <> 'completed';
-- The orders to come.
CREATE INDEX orders_by_schedule ON orders (book_id, scheduled_at, id)
    WHERE deleted_at IS NULL AND status = 'scheduled';
-- The orders of a table's session.
CREATE INDEX orders_by_session ON orders (book_id, table_session_id)
    WHERE table_session_id IS NOT NULL;
-- The orders of a school's term.
CREATE INDEX orders_by_term ON orders (book_id, academic_term_id, occurred_at, id)
    WHERE academic_term_id IS NOT NULL;
-- The orders that a person or a key recorded.
CREATE INDEX orders_by_recorder ON orders (book_id, recorded_by_id, occurred_at, id)
    WHERE deleted_at IS NULL;
-- The orders that a person served.
CREATE INDEX orders_by_server ON orders (book_id, served_by_id, occurred_at, id)
    WHERE deleted_at IS NULL AND served_by_id IS NOT NULL;
-- The orders with a tag.
CREATE INDEX orders_by_tag ON orders USING gin (tag_ids) WHERE tag_ids <> '{}';
-- The orders that go to the kitchen at a moment.
CREATE INDEX orders_to_fire ON orders (fires_at) WHERE fires_at IS NOT NULL;
-- The list of orders, the latest first, filtered from the index alone.
CREATE INDEX orders_by_time ON orders (book_id, occurred_at, id)
    INCLUDE (status, payment_status, channel, payment_methods, service_mode, store_id)
    WHERE deleted_at IS NULL;
-- The orders on a stay.
CREATE INDEX orders_of_stay ON orders (book_id, hotel_reservation_id)
    WHERE hotel_reservation_id IS NOT NULL;
-- The orders of a customer, filtered and added up from the index alone.
CREATE INDEX orders_by_customer ON orders (book_id, customer_id, occurred_at, id)
    INCLUDE (status, payment_status, channel, payment_methods, service_mode, store_id,
        is_automated, channel_fulfilled_at, recorded_by_id, served_by_id, academic_term_id,
        total_amount, remaining_amount, refunded_amount, paid_by_cash, paid_by_transfer,
        paid_by_pos, paid_by_cloove_pay, paid_by_credit, paid_by_other)
    WHERE customer_id IS NOT NULL AND deleted_at IS NULL;
-- Those that changed since a moment, the oldest change first.
CREATE INDEX orders_by_change ON orders (book_id, updated_at, id) WHERE deleted_at IS NULL;

-- The lines of an order, each as it was sold.
CREATE TABLE order_items (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    position integer NOT NULL,
    line_type order_line_type NOT NULL,
    product_id uuid,
    variant_id uuid,
    product_name text NOT NULL,
    variant_name text,
    quantity order_quantity NOT NULL,
    unit_price numeric NOT NULL,
    original_unit_price numeric NOT NULL,
    subtotal_amount numeric NOT NULL,
    discount_amount numeric NOT NULL,
    tax_amount numeric NOT NULL,
    total_price order_amount NOT NULL,
    image_url text,
    modifiers jsonb NOT NULL DEFAULT '[]',
    components jsonb NOT NULL DEFAULT '[]',
    -- The rate at which a line was sold: a line without a product has no other place for it.
    tax_rate numeric,
    PRIMARY KEY (book_id, order_id, position),
    CONSTRAINT order_items_id_key UNIQUE (book_id, id),
    FOREIGN KEY (book_id, order_id) REFERENCES orders (book_id, id),
    FOREIGN KEY (book_id, product_id, variant_id) REFERENCES variants (book_id, product_id, id)
);

-- What a receipt said when it was made: later changes of the order don't change it.
CREATE TABLE receipts (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    order_id uuid,
    number integer NOT NULL,
    content jsonb NOT NULL,
    created_at timestamptz(3) NOT NULL,
    transaction_id uuid,
    -- Bills of stays are kept as receipts are: what one said when it was made, and its number.
    reservation_id uuid,
    PRIMARY KEY (book_id, id),
    CONSTRAINT receipts_number_key UNIQUE (book_id, order_id, number),
    FOREIGN KEY (book_id, order_id) REFERENCES orders (book_id, id),
    FOREIGN KEY (book_id, transaction_id) REFERENCES transactions (book_id, id),
    FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations (book_id, id),
    CONSTRAINT receipts_are_of_one
        CHECK (num_nonnulls(order_id, transaction_id, reservation_id) = 1)
);
-- Its address names the receipt and no book: whoever has it belongs to none.
CREATE UNIQUE INDEX receipts_id_key ON receipts (id);
-- The receipts of a transaction, numbered.
CREATE UNIQUE INDEX receipts_of_transaction ON receipts (book_id, transaction_id, number)
    WHERE transaction_id IS NOT NULL;
-- The bills of a stay, numbered.
CREATE UNIQUE INDEX receipts_of_stay ON receipts (book_id, reservation_id, number)
    WHERE reservation_id IS NOT NULL;

-- How much each book holds of what may be limited, counted beside the writes and never by a scan.
CREATE TABLE order_storage (
    book_id uuid PRIMARY KEY REFERENCES books,
    orders bigint NOT NULL,
    bytes bigint NOT NULL,
    -- The last order that was counted: each is read once.
    counted_to uuid NOT NULL
);

-- Payments of an order, and corrections of them.
CREATE TABLE payments (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    kind payment_kind NOT NULL,
    method order_payment_method NOT NULL,
    -- Negative where the amount paid was corrected to less.
    amount signed_amount NOT NULL,
    -- On top of the amount.
    tip_amount order_amount NOT NULL DEFAULT 0,
    -- The part of the amount that was handed out again in cash.
    change_amount order_amount NOT NULL DEFAULT 0,
    reference text,
    status payment_status NOT NULL DEFAULT 'successful',
    transaction_id uuid NOT NULL,
    -- The payment link that it came through, and the provider's receipt that it is.
    link_id uuid,
    receipt_id uuid,
    recorded_by_id uuid NOT NULL,
    recorded_by_name text NOT NULL,
    happened_at timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, order_id, id),
    CONSTRAINT payments_corrected CHECK ((kind = 'correction') = (amount < 0)),
    FOREIGN KEY (book_id, order_id) REFERENCES orders (book_id, id)
);
-- The payments that came by a link.
CREATE INDEX payments_by_link ON payments (book_id, link_id) WHERE link_id IS NOT NULL;
-- Whatever a provider reports again is one payment.
CREATE UNIQUE INDEX payments_receipt_key ON payments (book_id, receipt_id)
    WHERE receipt_id IS NOT NULL;

-- Money of an order that went back, or is on its way.
CREATE TABLE refunds (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    method order_payment_method NOT NULL,
    amount positive_amount NOT NULL,
    reason text,
    -- The lines that were given back, with quantity and amount of each; null for an amount alone.
    lines jsonb,
    restocked boolean NOT NULL DEFAULT false,
    status payment_status NOT NULL DEFAULT 'successful',
    transaction_id uuid,
    -- The payment that a provider gives back, and its names of that.
    payment_id uuid,
    provider text,
    provider_refund_id text,
    recorded_by_id uuid NOT NULL,
    recorded_by_name text NOT NULL,
    happened_at timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL,
    -- The money that arrived and of which this is given back.
    payin_id uuid,
    -- The amount in the wallet until the outcome is known, and the overpayment in it that the
    -- customer's credit keeps.
    hold_id uuid,
    credit_hold_id uuid,
    -- Whether the stock of its lines is to come back with the money.
    restocks boolean NOT NULL DEFAULT false,
    -- When the provider was asked for it last, and whether that may have been executed.
    asked_at timestamptz(3),
    is_unclear boolean NOT NULL DEFAULT false,
    -- The part that the order no longer had, and the part that was of the sale.
    shortfall order_amount NOT NULL DEFAULT 0,
    of_sale order_amount NOT NULL DEFAULT 0,
    failure_reason text,
    ended_at timestamptz(3),
    withdrawal_id uuid,
    -- The part of a refund that its provider had taken back by itself when the refund turned out to
    -- have succeeded: its order has given it already, and it leaves the wallet no second time.
    taken_before order_amount NOT NULL DEFAULT 0,
    PRIMARY KEY (book_id, order_id, id),
    FOREIGN KEY (book_id, order_id) REFERENCES orders (book_id, id),
    FOREIGN KEY (book_id, order_id, payment_id) REFERENCES payments (book_id, order_id, id),
    CONSTRAINT refunds_shortfall_within_amount CHECK (shortfall <= amount),
    FOREIGN KEY (book_id, payin_id) REFERENCES payins (book_id, id),
    -- One way out: through the provider, or by a withdrawal.
    CONSTRAINT refunds_go_one_way CHECK (hold_id IS NULL OR withdrawal_id IS NULL),
    CONSTRAINT refunds_have_transactions CHECK (transaction_id IS NOT NULL
        OR ((hold_id IS NOT NULL OR withdrawal_id IS NOT NULL)
            AND (status IN ('pending', 'failed') OR shortfall = amount))),
    CONSTRAINT refunds_taken_before_within_shortfall
    CHECK (taken_before <= shortfall)
);
-- A provider's refund is one of ours once.
CREATE UNIQUE INDEX refunds_provider_key ON refunds (book_id, provider, provider_refund_id)
    WHERE provider_refund_id IS NOT NULL;
-- What goes back of one payment through its provider.
CREATE INDEX refunds_of_payin ON refunds (book_id, payin_id) WHERE payin_id IS NOT NULL;
-- A payout pays one refund.
CREATE UNIQUE INDEX refunds_of_withdrawal ON refunds (book_id, withdrawal_id)
    WHERE withdrawal_id IS NOT NULL;
-- Refunds that went out through a provider, or as a payout.
CREATE UNIQUE INDEX refunds_sent ON refunds (book_id, id)
    WHERE hold_id IS NOT NULL OR withdrawal_id IS NOT NULL;
-- Those on their way are few, and looked for in all books.
CREATE INDEX refunds_on_their_way ON refunds (book_id, id) WHERE status = 'pending';

-- An order is charged to a stay whose guest is in the house.
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

-- A scheduled order whose day is closed meanwhile is sold when it is confirmed.
CREATE FUNCTION sell_when_confirmed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF is_closed(NEW.book_id, NEW.occurred_at) THEN
        NEW.occurred_at := NEW.updated_at;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER orders_are_sold_when_confirmed BEFORE UPDATE OF status ON orders
    FOR EACH ROW WHEN (OLD.status = 'scheduled' AND NEW.status IN ('pending', 'completed'))
    EXECUTE FUNCTION sell_when_confirmed();
