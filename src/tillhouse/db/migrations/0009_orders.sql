-- Sales: orders, their lines, their kitchen tickets, receipts, and the tallies of lists.

-- Vocabularies and bounds are domains, as in the ledger.
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
CREATE DOMAIN order_amount AS numeric CONSTRAINT order_amount_bounds
    CHECK (VALUE >= 0 AND VALUE < 1e15);
CREATE DOMAIN order_quantity AS numeric CONSTRAINT order_quantity_bounds
    CHECK (VALUE > 0 AND VALUE < 1e9);

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
    payment_status text NOT NULL GENERATED ALWAYS AS (
        CASE WHEN amount_paid >= total_amount THEN 'paid' WHEN amount_paid > 0 THEN 'partial'
            ELSE 'pending' END) STORED,
    remaining_amount numeric NOT NULL
        GENERATED ALWAYS AS (greatest(total_amount - amount_paid, 0)) STORED,
    payment_method order_payment_method NOT NULL,
    customer_id uuid,
    store_id uuid,
    channel order_channel NOT NULL,
    channel_fulfilled_at timestamptz(3),
    is_automated boolean NOT NULL DEFAULT false,
    deposit jsonb,
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
    PRIMARY KEY (book_id, id),
    CONSTRAINT orders_short_code_key UNIQUE (book_id, short_code),
    CONSTRAINT orders_add_up CHECK (
        total_amount = subtotal_amount - discount_amount + service_charge_amount
            + exclusive_tax_amount + adjustment_amount),
    FOREIGN KEY (book_id, customer_id) REFERENCES customers (book_id, id),
    FOREIGN KEY (book_id, store_id) REFERENCES stores (book_id, id),
    FOREIGN KEY (book_id, table_session_id) REFERENCES table_sessions (book_id, id),
    FOREIGN KEY (book_id, academic_term_id) REFERENCES academic_terms (book_id, id),
    FOREIGN KEY (book_id, promotion_id) REFERENCES promotions (book_id, id)
) WITH (fillfactor = 85);
CREATE UNIQUE INDEX orders_idempotency_key ON orders (book_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

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
    PRIMARY KEY (book_id, order_id, position),
    CONSTRAINT order_items_id_key UNIQUE (book_id, id),
    FOREIGN KEY (book_id, order_id) REFERENCES orders (book_id, id),
    FOREIGN KEY (book_id, product_id, variant_id) REFERENCES variants (book_id, product_id, id)
);

CREATE TABLE kitchen_tickets (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    station text NOT NULL DEFAULT 'kitchen',
    status text NOT NULL CONSTRAINT kitchen_tickets_status_known
        CHECK (status IN ('queued', 'preparing', 'ready', 'served')),
    queued_at timestamptz(3) NOT NULL,
    preparing_at timestamptz(3),
    ready_at timestamptz(3),
    served_at timestamptz(3),
    closed_at timestamptz(3),
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    -- Never two tickets of one station for one order, whoever sends it there.
    CONSTRAINT kitchen_tickets_one_per_station UNIQUE (book_id, order_id, station),
    FOREIGN KEY (book_id, order_id) REFERENCES orders (book_id, id)
) WITH (fillfactor = 80);
CREATE INDEX kitchen_tickets_on_board ON kitchen_tickets (book_id, queued_at, id)
    WHERE closed_at IS NULL AND status <> 'served';
CREATE INDEX kitchen_tickets_by_time ON kitchen_tickets (book_id, queued_at, id);

-- What a receipt said when it was made: later changes of the order don't change it.
CREATE TABLE receipts (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    number integer NOT NULL,
    content jsonb NOT NULL,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    CONSTRAINT receipts_number_key UNIQUE (book_id, order_id, number),
    FOREIGN KEY (book_id, order_id) REFERENCES orders (book_id, id)
);
-- Its address names the receipt and no book: whoever has it belongs to none.
CREATE UNIQUE INDEX receipts_id_key ON receipts (id);

-- The ways to a page of orders. The first holds all that common filters ask, so that they are
-- answered from the index alone. What is rare needs no index of its own: the tallies tell its days.
CREATE INDEX orders_by_time ON orders (book_id, occurred_at, id)
    INCLUDE (status, payment_status, channel, payment_method, service_mode, store_id)
    WHERE deleted_at IS NULL;
-- But one person's few cancelled orders lie on the days of everybody's.
CREATE INDEX orders_by_status ON orders (book_id, status, occurred_at, id)
    WHERE deleted_at IS NULL AND status <> 'completed';
CREATE INDEX orders_by_schedule ON orders (book_id, scheduled_at, id)
    WHERE deleted_at IS NULL AND status = 'scheduled';
-- A search finds customers, and by them thousands of orders that lie all over the table: what the
-- figures and the common filters need of them is in the index.
CREATE INDEX orders_by_customer ON orders (book_id, customer_id, occurred_at, id)
    INCLUDE (status, payment_status, channel, payment_method, service_mode, store_id,
        is_automated, channel_fulfilled_at, recorded_by_id, served_by_id, academic_term_id,
        total_amount, remaining_amount)
    WHERE customer_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX orders_by_session ON orders (book_id, table_session_id)
    WHERE table_session_id IS NOT NULL;
CREATE INDEX orders_by_term ON orders (book_id, academic_term_id, occurred_at, id)
    WHERE academic_term_id IS NOT NULL;
CREATE INDEX orders_by_recorder ON orders (book_id, recorded_by_id, occurred_at, id)
    WHERE deleted_at IS NULL;
CREATE INDEX orders_by_server ON orders (book_id, served_by_id, occurred_at, id)
    WHERE deleted_at IS NULL AND served_by_id IS NOT NULL;
CREATE INDEX orders_by_tag ON orders USING gin (tag_ids) WHERE tag_ids <> '{}';
CREATE INDEX orders_to_fire ON orders (fires_at) WHERE fires_at IS NOT NULL;

-- How many orders there are of each kind and what they come to, kept by the database itself, so
-- that no list ever counts. A change only ever adds a row here (no writer waits for another);
-- now and then the rows of one kind are folded into one. Their sum is exact at every moment.
CREATE TABLE order_tallies (
    book_id uuid NOT NULL,
    period text NOT NULL CONSTRAINT order_tallies_period_known
        CHECK (period IN ('day', 'month', 'ever')),
    -- The first day of the period, in UTC; null in the sums over all days.
    day date,
    status text NOT NULL,
    payment_status text NOT NULL,
    channel text NOT NULL,
    payment_method text NOT NULL,
    service_mode text,
    store_id uuid,
    is_automated boolean NOT NULL,
    is_fulfilled boolean NOT NULL,
    orders bigint NOT NULL,
    total_amount numeric NOT NULL,
    remaining_amount numeric NOT NULL,
    CONSTRAINT order_tallies_kind_key UNIQUE NULLS NOT DISTINCT (book_id, period, day, status,
        payment_status, channel, payment_method, service_mode, store_id, is_automated,
        is_fulfilled)
) WITH (fillfactor = 70);

-- The same by people, terms and tags as well, which makes far more kinds: hence by months alone,
-- and apart from what every list reads.
CREATE TABLE order_tallies_in_detail (
    book_id uuid NOT NULL,
    -- The first of the month, null in the sums over all months.
    day date,
    status text NOT NULL,
    payment_status text NOT NULL,
    channel text NOT NULL,
    payment_method text NOT NULL,
    service_mode text,
    store_id uuid,
    is_automated boolean NOT NULL,
    is_fulfilled boolean NOT NULL,
    recorded_by_id uuid NOT NULL,
    served_by_id uuid,
    academic_term_id uuid,
    tag_ids uuid[] NOT NULL,
    orders bigint NOT NULL,
    total_amount numeric NOT NULL,
    remaining_amount numeric NOT NULL,
    CONSTRAINT order_tallies_in_detail_kind_key UNIQUE NULLS NOT DISTINCT (book_id, day, status,
        payment_status, channel, payment_method, service_mode, store_id, is_automated,
        is_fulfilled, recorded_by_id, served_by_id, academic_term_id, tag_ids)
) WITH (fillfactor = 80);
CREATE INDEX order_tallies_in_detail_by_recorder
    ON order_tallies_in_detail (book_id, recorded_by_id, day);
CREATE INDEX order_tallies_in_detail_by_server
    ON order_tallies_in_detail (book_id, served_by_id, day) WHERE served_by_id IS NOT NULL;
CREATE INDEX order_tallies_in_detail_by_tags
    ON order_tallies_in_detail (book_id, day) WHERE tag_ids <> '{}';

CREATE TABLE order_tally_changes (
    book_id uuid NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    day date NOT NULL,
    status text NOT NULL,
    payment_status text NOT NULL,
    channel text NOT NULL,
    payment_method text NOT NULL,
    service_mode text,
    store_id uuid,
    is_automated boolean NOT NULL,
    is_fulfilled boolean NOT NULL,
    recorded_by_id uuid NOT NULL,
    served_by_id uuid,
    academic_term_id uuid,
    tag_ids uuid[] NOT NULL,
    orders bigint NOT NULL,
    total_amount numeric NOT NULL,
    remaining_amount numeric NOT NULL,
    PRIMARY KEY (book_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

CREATE FUNCTION tally_order(counted orders, sign integer) RETURNS void
    LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO order_tally_changes (book_id, day, status, payment_status, channel,
        payment_method, service_mode, store_id, is_automated, is_fulfilled, recorded_by_id,
        served_by_id, academic_term_id, tag_ids, orders, total_amount, remaining_amount)
    VALUES (counted.book_id, (counted.occurred_at AT TIME ZONE 'UTC')::date, counted.status,
        counted.payment_status, counted.channel, counted.payment_method, counted.service_mode,
        counted.store_id, counted.is_automated, counted.channel_fulfilled_at IS NOT NULL,
        counted.recorded_by_id, counted.served_by_id, counted.academic_term_id, counted.tag_ids,
        sign, sign * counted.total_amount, sign * counted.remaining_amount);
END $$;

CREATE FUNCTION tally_orders() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.deleted_at IS NULL THEN
        PERFORM tally_order(OLD, -1);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.deleted_at IS NULL THEN
        PERFORM tally_order(NEW, 1);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER orders_are_tallied AFTER INSERT OR DELETE ON orders
    FOR EACH ROW EXECUTE FUNCTION tally_orders();
CREATE TRIGGER orders_are_tallied_again AFTER UPDATE ON orders
    FOR EACH ROW WHEN ((OLD.status, OLD.payment_status, OLD.channel, OLD.payment_method,
        OLD.service_mode, OLD.store_id, OLD.is_automated, OLD.channel_fulfilled_at IS NULL,
        OLD.recorded_by_id, OLD.served_by_id, OLD.academic_term_id, OLD.tag_ids,
        OLD.total_amount, OLD.remaining_amount, OLD.occurred_at, OLD.deleted_at)
        IS DISTINCT FROM (NEW.status, NEW.payment_status, NEW.channel, NEW.payment_method,
        NEW.service_mode, NEW.store_id, NEW.is_automated, NEW.channel_fulfilled_at IS NULL,
        NEW.recorded_by_id, NEW.served_by_id, NEW.academic_term_id, NEW.tag_ids,
        NEW.total_amount, NEW.remaining_amount, NEW.occurred_at, NEW.deleted_at))
    EXECUTE FUNCTION tally_orders();
