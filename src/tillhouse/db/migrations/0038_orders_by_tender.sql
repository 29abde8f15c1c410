-- Lists find an order by each method that it was paid by, and sum what came in by each.

CREATE FUNCTION payment_method_bit(method text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE method WHEN 'cash' THEN 1 WHEN 'transfer' THEN 2 WHEN 'pos' THEN 4
        WHEN 'cloove_pay' THEN 8 WHEN 'credit' THEN 16 WHEN 'other' THEN 32 END
$$;

-- What names the method of an order is made anew with its methods.
DROP TRIGGER orders_are_tallied_again ON orders;
DROP INDEX orders_by_time, orders_by_customer;
ALTER TABLE orders
    -- What an order holds by each method: payments less corrections, refunds and, of cash, change.
    -- Null: it was never paid so.
    ADD COLUMN paid_by_cash numeric,
    ADD COLUMN paid_by_transfer numeric,
    ADD COLUMN paid_by_pos numeric,
    ADD COLUMN paid_by_cloove_pay numeric,
    ADD COLUMN paid_by_credit numeric,
    ADD COLUMN paid_by_other numeric;
UPDATE orders o SET
    -- Change is cash, whatever the order was paid by.
    paid_by_cash = CASE WHEN o.change_amount > 0 THEN coalesce(t.cash, 0) - o.change_amount
        ELSE t.cash END,
    paid_by_transfer = t.transfer, paid_by_pos = t.pos, paid_by_cloove_pay = t.cloove_pay,
    paid_by_credit = t.credit, paid_by_other = t.other
FROM (
    SELECT m.book_id, m.order_id, sum(m.amount) FILTER (WHERE m.method = 'cash') AS cash,
        sum(m.amount) FILTER (WHERE m.method = 'transfer') AS transfer,
        sum(m.amount) FILTER (WHERE m.method = 'pos') AS pos,
        sum(m.amount) FILTER (WHERE m.method = 'cloove_pay') AS cloove_pay,
        sum(m.amount) FILTER (WHERE m.method = 'credit') AS credit,
        sum(m.amount) FILTER (WHERE m.method = 'other') AS other
    FROM (
        SELECT p.book_id, p.order_id, p.method, sum(p.amount) AS amount FROM payments p
        WHERE p.status = 'successful'
        GROUP BY 1, 2, 3 HAVING sum(p.amount) <> 0
        UNION ALL
        SELECT r.book_id, r.order_id, r.method, -r.amount FROM refunds r
        WHERE r.status = 'successful'
    ) m GROUP BY 1, 2
) t
WHERE o.book_id = t.book_id AND o.id = t.order_id;
ALTER TABLE orders
    -- The bits of the order's own method and of those that it was paid by.
    ADD COLUMN payment_methods smallint NOT NULL GENERATED ALWAYS AS ((
        payment_method_bit(payment_method)
        | CASE WHEN paid_by_cash IS NULL THEN 0 ELSE 1 END
        | CASE WHEN paid_by_transfer IS NULL THEN 0 ELSE 2 END
        | CASE WHEN paid_by_pos IS NULL THEN 0 ELSE 4 END
        | CASE WHEN paid_by_cloove_pay IS NULL THEN 0 ELSE 8 END
        | CASE WHEN paid_by_credit IS NULL THEN 0 ELSE 16 END
        | CASE WHEN paid_by_other IS NULL THEN 0 ELSE 32 END)::smallint) STORED;

CREATE INDEX orders_by_time ON orders (book_id, occurred_at, id)
    INCLUDE (status, payment_status, channel, payment_methods, service_mode, store_id)
    WHERE deleted_at IS NULL;
CREATE INDEX orders_by_customer ON orders (book_id, customer_id, occurred_at, id)
    INCLUDE (status, payment_status, channel, payment_methods, service_mode, store_id,
        is_automated, channel_fulfilled_at, recorded_by_id, served_by_id, academic_term_id,
        total_amount, remaining_amount, paid_by_cash, paid_by_transfer, paid_by_pos,
        paid_by_cloove_pay, paid_by_credit, paid_by_other)
    WHERE customer_id IS NOT NULL AND deleted_at IS NULL;

-- The sums are made anew by these kinds.
TRUNCATE order_tallies, order_tallies_in_detail, order_tally_changes, sales_by_quarter_hour;
ALTER TABLE order_tallies DROP CONSTRAINT order_tallies_kind_key;
ALTER TABLE order_tallies
    DROP COLUMN payment_method,
    ADD COLUMN payment_methods smallint NOT NULL,
    ADD COLUMN paid_by_cash numeric NOT NULL,
    ADD COLUMN paid_by_transfer numeric NOT NULL,
    ADD COLUMN paid_by_pos numeric NOT NULL,
    ADD COLUMN paid_by_cloove_pay numeric NOT NULL,
    ADD COLUMN paid_by_credit numeric NOT NULL,
    ADD COLUMN paid_by_other numeric NOT NULL,
    ADD CONSTRAINT order_tallies_kind_key UNIQUE NULLS NOT DISTINCT (book_id, period, day, status,
        payment_status, channel, payment_methods, service_mode, store_id, is_automated,
        is_fulfilled);
ALTER TABLE order_tallies_in_detail DROP CONSTRAINT order_tallies_in_detail_kind_key;
ALTER TABLE order_tallies_in_detail
    DROP COLUMN payment_method,
    ADD COLUMN payment_methods smallint NOT NULL,
    ADD COLUMN paid_by_cash numeric NOT NULL,
    ADD COLUMN paid_by_transfer numeric NOT NULL,
    ADD COLUMN paid_by_pos numeric NOT NULL,
    ADD COLUMN paid_by_cloove_pay numeric NOT NULL,
    ADD COLUMN paid_by_credit numeric NOT NULL,
    ADD COLUMN paid_by_other numeric NOT NULL,
    ADD CONSTRAINT order_tallies_in_detail_kind_key UNIQUE NULLS NOT DISTINCT (book_id, day,
        status, payment_status, channel, payment_methods, service_mode, store_id, is_automated,
        is_fulfilled, recorded_by_id, served_by_id, academic_term_id, tag_ids);
ALTER TABLE order_tally_changes
    DROP COLUMN payment_method,
    ADD COLUMN payment_methods smallint NOT NULL,
    ADD COLUMN paid_by_cash numeric,
    ADD COLUMN paid_by_transfer numeric,
    ADD COLUMN paid_by_pos numeric,
    ADD COLUMN paid_by_cloove_pay numeric,
    ADD COLUMN paid_by_credit numeric,
    ADD COLUMN paid_by_other numeric;

CREATE OR REPLACE FUNCTION tally_order(counted orders, sign integer) RETURNS void
    LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO order_tally_changes (book_id, day, quarter_at, status, payment_status, channel,
        payment_methods, service_mode, store_id, is_automated, is_fulfilled, recorded_by_id,
        served_by_id, academic_term_id, tag_ids, orders, total_amount, remaining_amount,
        paid_by_cash, paid_by_transfer, paid_by_pos, paid_by_cloove_pay, paid_by_credit,
        paid_by_other)
    VALUES (counted.book_id, (counted.occurred_at AT TIME ZONE 'UTC')::date,
        date_bin('15 minutes', counted.occurred_at, '2001-01-01Z'), counted.status,
        counted.payment_status, counted.channel, counted.payment_methods, counted.service_mode,
        counted.store_id, counted.is_automated, counted.channel_fulfilled_at IS NOT NULL,
        counted.recorded_by_id, counted.served_by_id, counted.academic_term_id, counted.tag_ids,
        sign, sign * counted.total_amount, sign * counted.remaining_amount,
        sign * counted.paid_by_cash, sign * counted.paid_by_transfer, sign * counted.paid_by_pos,
        sign * counted.paid_by_cloove_pay, sign * counted.paid_by_credit,
        sign * counted.paid_by_other);
END $$;
CREATE TRIGGER orders_are_tallied_again AFTER UPDATE ON orders
    FOR EACH ROW WHEN ((OLD.status, OLD.payment_status, OLD.channel, OLD.payment_methods,
        OLD.service_mode, OLD.store_id, OLD.is_automated, OLD.channel_fulfilled_at IS NULL,
        OLD.recorded_by_id, OLD.served_by_id, OLD.academic_term_id, OLD.tag_ids,
        OLD.total_amount, OLD.remaining_amount, OLD.paid_by_cash, OLD.paid_by_transfer,
        OLD.paid_by_pos, OLD.paid_by_cloove_pay, OLD.paid_by_credit, OLD.paid_by_other,
        OLD.occurred_at, OLD.deleted_at)
        IS DISTINCT FROM (NEW.status, NEW.payment_status, NEW.channel, NEW.payment_methods,
        NEW.service_mode, NEW.store_id, NEW.is_automated, NEW.channel_fulfilled_at IS NULL,
        NEW.recorded_by_id, NEW.served_by_id, NEW.academic_term_id, NEW.tag_ids,
        NEW.total_amount, NEW.remaining_amount, NEW.paid_by_cash, NEW.paid_by_transfer,
        NEW.paid_by_pos, NEW.paid_by_cloove_pay, NEW.paid_by_credit, NEW.paid_by_other,
        NEW.occurred_at, NEW.deleted_at))
    EXECUTE FUNCTION tally_orders();

INSERT INTO sales_by_quarter_hour (book_id, quarter_at, store_id, total_amount)
SELECT book_id, date_bin('15 minutes', occurred_at, '2001-01-01Z'), store_id, sum(total_amount)
FROM orders WHERE deleted_at IS NULL AND status <> 'cancelled'
GROUP BY 1, 2, 3;
INSERT INTO order_tallies (book_id, period, day, status, payment_status, channel,
    payment_methods, service_mode, store_id, is_automated, is_fulfilled, orders, total_amount,
    remaining_amount, paid_by_cash, paid_by_transfer, paid_by_pos, paid_by_cloove_pay,
    paid_by_credit, paid_by_other)
SELECT o.book_id, d.period, d.day, o.status, o.payment_status, o.channel, o.payment_methods,
    o.service_mode, o.store_id, o.is_automated, o.channel_fulfilled_at IS NOT NULL, count(*),
    sum(o.total_amount), sum(o.remaining_amount), coalesce(sum(o.paid_by_cash), 0),
    coalesce(sum(o.paid_by_transfer), 0), coalesce(sum(o.paid_by_pos), 0),
    coalesce(sum(o.paid_by_cloove_pay), 0), coalesce(sum(o.paid_by_credit), 0),
    coalesce(sum(o.paid_by_other), 0)
FROM orders o, LATERAL (VALUES
    ('day', (o.occurred_at AT TIME ZONE 'UTC')::date),
    ('month', date_trunc('month', o.occurred_at AT TIME ZONE 'UTC')::date),
    ('ever', NULL)) AS d (period, day)
WHERE o.deleted_at IS NULL
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11;
INSERT INTO order_tallies_in_detail (book_id, day, status, payment_status, channel,
    payment_methods, service_mode, store_id, is_automated, is_fulfilled, recorded_by_id,
    served_by_id, academic_term_id, tag_ids, orders, total_amount, remaining_amount,
    paid_by_cash, paid_by_transfer, paid_by_pos, paid_by_cloove_pay, paid_by_credit,
    paid_by_other)
SELECT o.book_id, d.day, o.status, o.payment_status, o.channel, o.payment_methods,
    o.service_mode, o.store_id, o.is_automated, o.channel_fulfilled_at IS NOT NULL,
    o.recorded_by_id, o.served_by_id, o.academic_term_id, o.tag_ids, count(*),
    sum(o.total_amount), sum(o.remaining_amount), coalesce(sum(o.paid_by_cash), 0),
    coalesce(sum(o.paid_by_transfer), 0), coalesce(sum(o.paid_by_pos), 0),
    coalesce(sum(o.paid_by_cloove_pay), 0), coalesce(sum(o.paid_by_credit), 0),
    coalesce(sum(o.paid_by_other), 0)
FROM orders o, LATERAL (VALUES
    (date_trunc('month', o.occurred_at AT TIME ZONE 'UTC')::date), (NULL)) AS d (day)
WHERE o.deleted_at IS NULL
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14;
