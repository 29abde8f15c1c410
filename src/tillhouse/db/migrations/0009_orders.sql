-- Sales: orders, their lines, their kitchen tickets, receipts, and the tallies of lists.

CREATE TABLE orders (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    short_code text COLLATE "C" NOT NULL,
    -- Stays for ever: a till that was offline for a week may send an order again.
    idempotency_key text,
    -- What the request was: the key with another one is a mistake.
    idempotency_fingerprint bytea,
    status text NOT NULL CONSTRAINT orders_status_known
        CHECK (status IN ('scheduled', 'pending', 'completed', 'cancelled', 'refunded')),
    summary text NOT NULL,
    currency text NOT NULL,
    subtotal_amount numeric NOT NULL,
    discount_amount numeric NOT NULL,
    service_charge_amount numeric NOT NULL,
    -- All tax; the part that is not within the prices is what the total adds.
    tax_amount numeric NOT NULL,
    exclusive_tax_amount numeric NOT NULL,
    adjustment_amount numeric NOT NULL DEFAULT 0,
    total_amount numeric NOT NULL,
    amount_paid numeric NOT NULL,
    payment_status text NOT NULL GENERATED ALWAYS AS (
        CASE WHEN amount_paid >= total_amount THEN 'paid' WHEN amount_paid > 0 THEN 'partial'
            ELSE 'pending' END) STORED,
    remaining_amount numeric NOT NULL
        GENERATED ALWAYS AS (greatest(total_amount - amount_paid, 0)) STORED,
    payment_method text NOT NULL CONSTRAINT orders_payment_method_known
        CHECK (payment_method IN ('cash', 'transfer', 'pos', 'cloove_pay', 'credit', 'other')),
    customer_id uuid,
    store_id uuid,
    channel text NOT NULL CONSTRAINT orders_channel_known
        CHECK (channel IN ('in_person', 'whatsapp', 'instagram', 'tiktok', 'telegram', 'twitter',
            'storefront', 'dashboard', 'checkout', 'voice', 'other')),
    channel_fulfilled_at timestamptz(3),
    is_automated boolean NOT NULL DEFAULT false,
    deposit jsonb,
    scheduled_at timestamptz(3),
    scheduled_confirmed_at timestamptz(3),
    service_mode text CONSTRAINT orders_service_mode_known
        CHECK (service_mode IN ('dine_in', 'takeaway', 'room_service')),
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
    stock_state text NOT NULL DEFAULT 'none' CONSTRAINT orders_stock_state_known
        CHECK (stock_state IN ('none', 'reserved', 'taken')),
    stock_round integer NOT NULL DEFAULT 0,
    -- Postings so far: the sequence of the next transfer for this order.
    postings integer NOT NULL DEFAULT 0,
    occurred_at timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    CONSTRAINT orders_short_code_key UNIQUE (book_id, short_code),
    CONSTRAINT orders_amounts_bounds CHECK (
        subtotal_amount >= 0 AND discount_amount >= 0 AND service_charge_amount >= 0
        AND tax_amount >= 0 AND total_amount >= 0 AND total_amount < 1e15
        AND amount_paid >= 0 AND amount_paid < 1e15),
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
    line_type text NOT NULL CONSTRAINT order_items_line_type_known
        CHECK (line_type IN ('product', 'fee')),
    product_id uuid,
    variant_id uuid,
    product_name text NOT NULL,
    variant_name text,
    quantity numeric NOT NULL CONSTRAINT order_items_quantity_bounds
        CHECK (quantity > 0 AND quantity < 1e9),
    unit_price numeric NOT NULL,
    original_unit_price numeric NOT NULL,
    subtotal_amount numeric NOT NULL,
    discount_amount numeric NOT NULL,
    tax_amount numeric NOT NULL,
    total_price numeric NOT NULL CONSTRAINT order_items_total_bounds CHECK (total_price >= 0),
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
-- answered from the index alone.
CREATE INDEX orders_by_time ON orders (book_id, occurred_at, id)
    INCLUDE (status, payment_status, channel, payment_method, service_mode, store_id)
    WHERE deleted_at IS NULL;
-- What is rare is found by itself: newest first among a million others it would lie deep.
CREATE INDEX orders_by_status ON orders (book_id, status, occurred_at, id)
    WHERE deleted_at IS NULL AND status <> 'completed';
CREATE INDEX orders_by_payment ON orders (book_id, payment_status, occurred_at, id)
    WHERE deleted_at IS NULL AND payment_status <> 'paid';
CREATE INDEX orders_by_schedule ON orders (book_id, scheduled_at, id)
    WHERE deleted_at IS NULL AND status = 'scheduled';
CREATE INDEX orders_by_customer ON orders (book_id, customer_id, occurred_at, id)
    WHERE customer_id IS NOT NULL;
CREATE INDEX orders_by_session ON orders (book_id, table_session_id)
    WHERE table_session_id IS NOT NULL;
CREATE INDEX orders_by_term ON orders (book_id, academic_term_id, occurred_at, id)
    WHERE academic_term_id IS NOT NULL;
-- One person's orders can be a third of all: what the figures need is in the index.
CREATE INDEX orders_by_recorder ON orders (book_id, recorded_by_id, occurred_at, id)
    INCLUDE (status, channel, payment_method, total_amount, remaining_amount)
    WHERE deleted_at IS NULL;
CREATE INDEX orders_by_server ON orders (book_id, served_by_id, occurred_at, id)
    INCLUDE (status, channel, payment_method, total_amount, remaining_amount)
    WHERE deleted_at IS NULL AND served_by_id IS NOT NULL;
CREATE INDEX orders_by_tag ON orders USING gin (tag_ids) WHERE tag_ids <> '{}';
CREATE INDEX orders_to_fire ON orders (fires_at) WHERE fires_at IS NOT NULL;

-- How many orders there are of each kind and what they come to, kept by the database itself, so
-- that no list ever counts. A change only ever adds a row here (no writer waits for another);
-- now and then the rows of one kind are folded into one. Their sum is exact at every moment.
CREATE TABLE order_tallies (
    book_id uuid NOT NULL,
    -- The day in UTC, null in the sums over all days.
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
    CONSTRAINT order_tallies_kind_key UNIQUE NULLS NOT DISTINCT (book_id, day, status,
        payment_status, channel, payment_method, service_mode, store_id, is_automated,
        is_fulfilled)
) WITH (fillfactor = 70);

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
    orders bigint NOT NULL,
    total_amount numeric NOT NULL,
    remaining_amount numeric NOT NULL,
    PRIMARY KEY (book_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

CREATE FUNCTION tally_order(counted orders, sign integer) RETURNS void
    LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO order_tally_changes (book_id, day, status, payment_status, channel,
        payment_method, service_mode, store_id, is_automated, is_fulfilled, orders,
        total_amount, remaining_amount)
    VALUES (counted.book_id, (counted.occurred_at AT TIME ZONE 'UTC')::date, counted.status,
        counted.payment_status, counted.channel, counted.payment_method, counted.service_mode,
        counted.store_id, counted.is_automated, counted.channel_fulfilled_at IS NOT NULL, sign,
        sign * counted.total_amount, sign * counted.remaining_amount);
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
        OLD.total_amount, OLD.remaining_amount, OLD.occurred_at, OLD.deleted_at)
        IS DISTINCT FROM (NEW.status, NEW.payment_status, NEW.channel, NEW.payment_method,
        NEW.service_mode, NEW.store_id, NEW.is_automated, NEW.channel_fulfilled_at IS NULL,
        NEW.total_amount, NEW.remaining_amount, NEW.occurred_at, NEW.deleted_at))
    EXECUTE FUNCTION tally_orders();
