-- Figures that stand: gross sales stay on the day of the sale, refunds, tax, charges and discounts
-- have sums beside them, and money of the drawer is summed by the day on which it moved.

ALTER TABLE order_tally_changes
    -- Null: nothing.
    ADD COLUMN refunded_amount numeric,
    ADD COLUMN tax_amount numeric,
    ADD COLUMN discount_amount numeric,
    ADD COLUMN service_charge_amount numeric;
ALTER TABLE order_tallies ADD COLUMN refunded_amount numeric NOT NULL DEFAULT 0;
ALTER TABLE order_tallies_in_detail ADD COLUMN refunded_amount numeric NOT NULL DEFAULT 0;
ALTER TABLE sales_by_quarter_hour
    ADD COLUMN tax_amount numeric NOT NULL DEFAULT 0,
    ADD COLUMN discount_amount numeric NOT NULL DEFAULT 0,
    ADD COLUMN service_charge_amount numeric NOT NULL DEFAULT 0;
ALTER TABLE sales_by_hour
    ADD COLUMN tax_amount numeric NOT NULL DEFAULT 0,
    ADD COLUMN discount_amount numeric NOT NULL DEFAULT 0,
    ADD COLUMN service_charge_amount numeric NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION tally_order(counted orders, sign integer) RETURNS void
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
DROP TRIGGER orders_are_tallied_again ON orders;
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

-- What a search finds is summed from the index alone, refunds too.
DROP INDEX orders_by_customer;
CREATE INDEX orders_by_customer ON orders (book_id, customer_id, occurred_at, id)
    INCLUDE (status, payment_status, channel, payment_methods, service_mode, store_id,
        is_automated, channel_fulfilled_at, recorded_by_id, served_by_id, academic_term_id,
        total_amount, remaining_amount, refunded_amount, paid_by_cash, paid_by_transfer,
        paid_by_pos, paid_by_cloove_pay, paid_by_credit, paid_by_other)
    WHERE customer_id IS NOT NULL AND deleted_at IS NULL;

-- Refunds of orders that are there: folded like any change. Changes that wait tell of none.
INSERT INTO order_tally_changes (book_id, day, status, payment_status, channel, payment_methods,
    service_mode, store_id, is_automated, is_fulfilled, recorded_by_id, served_by_id,
    academic_term_id, tag_ids, orders, total_amount, remaining_amount, refunded_amount)
SELECT book_id, (occurred_at AT TIME ZONE 'UTC')::date, status, payment_status, channel,
    payment_methods, service_mode, store_id, is_automated, channel_fulfilled_at IS NOT NULL,
    recorded_by_id, served_by_id, academic_term_id, tag_ids, 0, 0, 0, refunded_amount
FROM orders WHERE refunded_amount > 0 AND deleted_at IS NULL;

-- A scheduled order is no sale yet. Those whose change waits to be folded are no part of the sums.
INSERT INTO sales_by_quarter_hour AS t (book_id, quarter_at, store_id, total_amount, tax_amount,
    discount_amount, service_charge_amount)
SELECT s.book_id, s.quarter_at, s.store_id, sum(s.total), sum(s.tax), sum(s.discount),
    sum(s.service)
FROM (
    SELECT book_id, date_bin('15 minutes', occurred_at, '2001-01-01Z') AS quarter_at, store_id,
        CASE status WHEN 'scheduled' THEN -total_amount ELSE 0 END AS total,
        CASE status WHEN 'scheduled' THEN 0 ELSE tax_amount END AS tax,
        CASE status WHEN 'scheduled' THEN 0 ELSE discount_amount END AS discount,
        CASE status WHEN 'scheduled' THEN 0 ELSE service_charge_amount END AS service
    FROM orders WHERE deleted_at IS NULL AND status <> 'cancelled'
    UNION ALL
    SELECT book_id, quarter_at, store_id, total_amount, 0, 0, 0 FROM order_tally_changes
    WHERE status = 'scheduled' AND quarter_at IS NOT NULL
) s
GROUP BY 1, 2, 3 HAVING (sum(s.total), sum(s.tax), sum(s.discount), sum(s.service)) <> (0, 0, 0, 0)
ON CONFLICT ON CONSTRAINT sales_by_quarter_hour_key DO UPDATE SET
    total_amount = t.total_amount + excluded.total_amount, tax_amount = excluded.tax_amount,
    discount_amount = excluded.discount_amount,
    service_charge_amount = excluded.service_charge_amount;
INSERT INTO sales_by_hour AS t (book_id, hour_at, store_id, total_amount, tax_amount,
    discount_amount, service_charge_amount)
SELECT book_id, date_bin('1 hour', quarter_at, '2001-01-01Z'), store_id, sum(total_amount),
    sum(tax_amount), sum(discount_amount), sum(service_charge_amount)
FROM sales_by_quarter_hour GROUP BY 1, 2, 3
ON CONFLICT ON CONSTRAINT sales_by_hour_key DO UPDATE SET
    total_amount = excluded.total_amount, tax_amount = excluded.tax_amount,
    discount_amount = excluded.discount_amount,
    service_charge_amount = excluded.service_charge_amount;

-- Money of a stay is told when it comes in. That it pays an order of the stay later is told by the
-- order, and no transaction of the list: it would be told twice.
ALTER TABLE transactions ADD COLUMN is_told boolean NOT NULL DEFAULT true;
CREATE OR REPLACE FUNCTION tally_transactions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO transaction_tally_changes
            (book_id, day, type, status, method, store_id, transactions, amount)
        SELECT book_id, (happened_at AT TIME ZONE 'UTC')::date, type, status, method, store_id,
            -count(*), -sum(amount)
        FROM replaced WHERE is_told GROUP BY 1, 2, 3, 4, 5, 6;
    END IF;
    INSERT INTO transaction_tally_changes
        (book_id, day, type, status, method, store_id, transactions, amount)
    SELECT book_id, (happened_at AT TIME ZONE 'UTC')::date, type, status, method, store_id,
        count(*), sum(amount)
    FROM written WHERE is_told GROUP BY 1, 2, 3, 4, 5, 6;
    RETURN NULL;
END $$;
UPDATE transactions t SET is_told = false
FROM folio_uses u
JOIN payments p ON p.book_id = u.book_id AND p.order_id = u.order_id AND p.id = u.payment_id
WHERE t.book_id = p.book_id AND t.id = p.transaction_id;

CREATE INDEX transactions_of_fees_and_disputes ON transactions (book_id, happened_at)
    INCLUDE (type, amount, store_id)
    WHERE status = 'successful' AND (type = 'fee' OR type = 'reversal' AND source_type = 'dispute');

-- What transfers moved on some accounts, by the moment in the world: debits less credits. Costs
-- are those whose other side is an expense or a fee.
CREATE TABLE ledger_tally_changes (
    book_id uuid NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    account_kind text NOT NULL,
    is_cost boolean NOT NULL,
    quarter_at timestamptz(0) NOT NULL,
    store_id uuid,
    amount numeric NOT NULL,
    PRIMARY KEY (book_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
CREATE TABLE ledger_tallies (
    book_id uuid NOT NULL,
    account_kind text NOT NULL,
    is_cost boolean NOT NULL,
    period text NOT NULL CONSTRAINT ledger_tallies_period_known
        CHECK (period IN ('quarter', 'hour')),
    -- When the quarter of an hour, or the hour, began in UTC.
    began_at timestamptz(0) NOT NULL,
    store_id uuid,
    amount numeric NOT NULL,
    CONSTRAINT ledger_tallies_kind_key
        UNIQUE NULLS NOT DISTINCT (book_id, account_kind, is_cost, period, began_at, store_id)
) WITH (fillfactor = 70);
INSERT INTO ledger_tallies (book_id, account_kind, is_cost, period, began_at, store_id, amount)
SELECT t.book_id, t.kind, t.other IN ('expenses', 'fees'), p.period,
    date_bin(p.width, t.happened_at, '2001-01-01Z'),
    coalesce(o.store_id, e.store_id), sum(t.amount)
FROM (
    SELECT book_id, source_type, source_id, happened_at, debit_kind AS kind, credit_kind AS other,
        amount
    FROM ledger_transfers
    UNION ALL
    SELECT book_id, source_type, source_id, happened_at, credit_kind, debit_kind, -amount
    FROM ledger_transfers
) t
LEFT JOIN orders o ON t.source_type = 'order' AND o.book_id = t.book_id AND o.id = t.source_id
LEFT JOIN expenses e ON t.source_type = 'expense' AND e.book_id = t.book_id AND e.id = t.source_id
CROSS JOIN (VALUES ('quarter', interval '15 minutes'), ('hour', interval '1 hour'))
    AS p (period, width)
WHERE t.kind IN ('cash', 'bank', 'pos', 'provider_clearing', 'other_tender', 'refunds', 'tips')
GROUP BY 1, 2, 3, 4, 5, 6;
