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
    service_mode text,
    store_id uuid,
    is_automated boolean NOT NULL,
    is_fulfilled boolean NOT NULL,
    orders bigint NOT NULL,
    total_amount numeric NOT NULL,
    remaining_amount numeric NOT NULL,
    payment_methods smallint NOT NULL,
    paid_by_cash numeric NOT NULL,
    paid_by_transfer numeric NOT NULL,
    paid_by_pos numeric NOT NULL,
    paid_by_cloove_pay numeric NOT NULL,
    paid_by_credit numeric NOT NULL,
    paid_by_other numeric NOT NULL,
    refunded_amount numeric NOT NULL DEFAULT 0,
    CONSTRAINT order_tallies_kind_key UNIQUE NULLS NOT DISTINCT (book_id, period, day, status,
        payment_status, channel, payment_methods, service_mode, store_id, is_automated,
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
    payment_methods smallint NOT NULL,
    paid_by_cash numeric NOT NULL,
    paid_by_transfer numeric NOT NULL,
    paid_by_pos numeric NOT NULL,
    paid_by_cloove_pay numeric NOT NULL,
    paid_by_credit numeric NOT NULL,
    paid_by_other numeric NOT NULL,
    refunded_amount numeric NOT NULL DEFAULT 0,
    CONSTRAINT order_tallies_in_detail_kind_key UNIQUE NULLS NOT DISTINCT (book_id, day,
        status, payment_status, channel, payment_methods, service_mode, store_id, is_automated,
        is_fulfilled, recorded_by_id, served_by_id, academic_term_id, tag_ids)
) WITH (fillfactor = 80);
-- The tallies of a person or a key that recorded.
CREATE INDEX order_tallies_in_detail_by_recorder
    ON order_tallies_in_detail (book_id, recorded_by_id, day);
-- The tallies of a person who served.
CREATE INDEX order_tallies_in_detail_by_server
    ON order_tallies_in_detail (book_id, served_by_id, day) WHERE served_by_id IS NOT NULL;
-- The tallies of orders with tags.
CREATE INDEX order_tallies_in_detail_by_tags
    ON order_tallies_in_detail (book_id, day) WHERE tag_ids <> '{}';

-- Changes of the tallies of orders, until a worker folds them into one row each.
CREATE TABLE order_tally_changes (
    book_id uuid NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    day date NOT NULL,
    status text NOT NULL,
    payment_status text NOT NULL,
    channel text NOT NULL,
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
    -- Null in changes that were not folded yet when quarters began to be counted.
    quarter_at timestamptz(0),
    payment_methods smallint NOT NULL,
    paid_by_cash numeric,
    paid_by_transfer numeric,
    paid_by_pos numeric,
    paid_by_cloove_pay numeric,
    paid_by_credit numeric,
    paid_by_other numeric,
    -- Null: nothing.
    refunded_amount numeric,
    tax_amount numeric,
    discount_amount numeric,
    service_charge_amount numeric,
    PRIMARY KEY (book_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- Local hours and days of every time zone are made of quarters of an hour in UTC.
CREATE TABLE sales_by_quarter_hour (
    book_id uuid NOT NULL,
    -- When it began.
    quarter_at timestamptz(0) NOT NULL,
    store_id uuid,
    -- Of all orders but the cancelled ones.
    total_amount numeric NOT NULL,
    tax_amount numeric NOT NULL DEFAULT 0,
    discount_amount numeric NOT NULL DEFAULT 0,
    service_charge_amount numeric NOT NULL DEFAULT 0,
    CONSTRAINT sales_by_quarter_hour_key UNIQUE NULLS NOT DISTINCT (book_id, quarter_at, store_id)
) WITH (fillfactor = 70);

-- The sales of a period are summed from whole hours; quarters only where an interval splits one.
CREATE TABLE sales_by_hour (
    book_id uuid NOT NULL,
    -- When it began, in UTC.
    hour_at timestamptz(0) NOT NULL,
    store_id uuid,
    -- Of all orders but the cancelled ones.
    total_amount numeric NOT NULL,
    tax_amount numeric NOT NULL DEFAULT 0,
    discount_amount numeric NOT NULL DEFAULT 0,
    service_charge_amount numeric NOT NULL DEFAULT 0,
    CONSTRAINT sales_by_hour_key UNIQUE NULLS NOT DISTINCT (book_id, hour_at, store_id)
) WITH (fillfactor = 70);

-- An order adds a change with its figures, or takes them back (sign -1).
CREATE FUNCTION tally_order(counted orders, sign integer) RETURNS void
    LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO order_tally_changes (book_id, day, quarter_at, status, payment_status, channel,
        payment_methods, service_mode, store_id, is_automated, is_fulfilled, recorded_by_id,
        served_by_id, academic_term_id, tag_ids, orders, total_amount, remaining_amount,
        refunded_amount, tax_amount, discount_amount, service_charge_amount,
        paid_by_cash, paid_by_transfer, paid_by_pos, paid_by_cloove_pay, paid_by_credit,
        paid_by_other)
    VALUES (counted.book_id, (counted.occurred_at AT TIME ZONE 'UTC')::date,
        date_bin('15 minutes', counted.occurred_at, '2001-01-01Z'), counted.status,
        counted.payment_status, counted.channel, counted.payment_methods, counted.service_mode,
        counted.store_id, counted.is_automated, counted.channel_fulfilled_at IS NOT NULL,
        counted.recorded_by_id, counted.served_by_id, counted.academic_term_id, counted.tag_ids,
        sign, sign * counted.total_amount, sign * counted.remaining_amount,
        sign * nullif(counted.refunded_amount, 0), sign * nullif(counted.tax_amount, 0),
        sign * nullif(counted.discount_amount, 0), sign * nullif(counted.service_charge_amount, 0),
        sign * counted.paid_by_cash, sign * counted.paid_by_transfer, sign * counted.paid_by_pos,
        sign * counted.paid_by_cloove_pay, sign * counted.paid_by_credit,
        sign * counted.paid_by_other);
END $$;

-- What a change of an order takes back and adds, in one row each.
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
    FOR EACH ROW WHEN ((OLD.status, OLD.payment_status, OLD.channel, OLD.payment_methods,
        OLD.service_mode, OLD.store_id, OLD.is_automated, OLD.channel_fulfilled_at IS NULL,
        OLD.recorded_by_id, OLD.served_by_id, OLD.academic_term_id, OLD.tag_ids,
        OLD.total_amount, OLD.remaining_amount, OLD.refunded_amount, OLD.tax_amount,
        OLD.discount_amount, OLD.service_charge_amount, OLD.paid_by_cash, OLD.paid_by_transfer,
        OLD.paid_by_pos, OLD.paid_by_cloove_pay, OLD.paid_by_credit, OLD.paid_by_other,
        OLD.occurred_at, OLD.deleted_at)
        IS DISTINCT FROM (NEW.status, NEW.payment_status, NEW.channel, NEW.payment_methods,
        NEW.service_mode, NEW.store_id, NEW.is_automated, NEW.channel_fulfilled_at IS NULL,
        NEW.recorded_by_id, NEW.served_by_id, NEW.academic_term_id, NEW.tag_ids,
        NEW.total_amount, NEW.remaining_amount, NEW.refunded_amount, NEW.tax_amount,
        NEW.discount_amount, NEW.service_charge_amount, NEW.paid_by_cash, NEW.paid_by_transfer,
        NEW.paid_by_pos, NEW.paid_by_cloove_pay, NEW.paid_by_credit, NEW.paid_by_other,
        NEW.occurred_at, NEW.deleted_at))
    EXECUTE FUNCTION tally_orders();
