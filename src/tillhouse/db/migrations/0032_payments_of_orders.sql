-- Payments and refunds of an order are rows, and what an order holds of its money is in columns.

CREATE DOMAIN payment_kind AS text CONSTRAINT payment_kind_known CHECK (VALUE IN (
    'payment', 'correction'));
CREATE DOMAIN payment_status AS text CONSTRAINT payment_status_known CHECK (VALUE IN (
    'pending', 'successful', 'failed', 'reversed'));

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
CREATE INDEX payments_by_link ON payments (book_id, link_id) WHERE link_id IS NOT NULL;
-- Whatever a provider reports again is one payment.
CREATE UNIQUE INDEX payments_receipt_key ON payments (book_id, receipt_id)
    WHERE receipt_id IS NOT NULL;

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
    transaction_id uuid NOT NULL,
    -- The payment that a provider gives back, and its names of that.
    payment_id uuid,
    provider text,
    provider_refund_id text,
    recorded_by_id uuid NOT NULL,
    recorded_by_name text NOT NULL,
    happened_at timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, order_id, id),
    FOREIGN KEY (book_id, order_id) REFERENCES orders (book_id, id),
    FOREIGN KEY (book_id, order_id, payment_id) REFERENCES payments (book_id, order_id, id)
);
CREATE UNIQUE INDEX refunds_provider_key ON refunds (book_id, provider, provider_refund_id)
    WHERE provider_refund_id IS NOT NULL;

-- The trigger and the indexes that name generated columns are made anew with them.
DROP TRIGGER orders_are_tallied_again ON orders;
DROP INDEX orders_by_time, orders_by_customer;
ALTER TABLE orders
    DROP COLUMN payment_status,
    DROP COLUMN remaining_amount,
    -- The part of the amount paid that was handed out again in cash.
    ADD COLUMN change_amount order_amount NOT NULL DEFAULT 0,
    -- The part of the sale that was given back: what is due is the total less that.
    ADD COLUMN refunded_amount order_amount NOT NULL DEFAULT 0,
    -- The credit of the customer in the amount paid, less what was refunded as credit.
    ADD COLUMN credit_amount numeric NOT NULL DEFAULT 0,
    ADD COLUMN tip_amount order_amount NOT NULL DEFAULT 0;
UPDATE orders SET change_amount = amount_paid - total_amount
WHERE payment_method = 'cash' AND amount_paid > total_amount
    AND (status <> 'scheduled' OR deleted_at IS NOT NULL);
ALTER TABLE orders
    ADD COLUMN payment_status text NOT NULL GENERATED ALWAYS AS (
        CASE WHEN amount_paid >= total_amount - refunded_amount THEN 'paid'
            WHEN amount_paid > 0 THEN 'partial' ELSE 'pending' END) STORED,
    ADD COLUMN remaining_amount numeric NOT NULL GENERATED ALWAYS AS (
        greatest(total_amount - refunded_amount - amount_paid, 0)) STORED,
    ADD CONSTRAINT orders_change_within_paid CHECK (change_amount <= amount_paid),
    ADD CONSTRAINT orders_refunded_within_total CHECK (refunded_amount <= total_amount);

CREATE INDEX orders_by_time ON orders (book_id, occurred_at, id)
    INCLUDE (status, payment_status, channel, payment_method, service_mode, store_id)
    WHERE deleted_at IS NULL;
CREATE INDEX orders_by_customer ON orders (book_id, customer_id, occurred_at, id)
    INCLUDE (status, payment_status, channel, payment_method, service_mode, store_id,
        is_automated, channel_fulfilled_at, recorded_by_id, served_by_id, academic_term_id,
        total_amount, remaining_amount)
    WHERE customer_id IS NOT NULL AND deleted_at IS NULL;
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

-- Until now every payment was told by its transaction alone, and recorded by nobody in particular.
INSERT INTO payments (book_id, id, order_id, kind, method, amount, change_amount, transaction_id,
    recorded_by_id, recorded_by_name, happened_at, created_at)
SELECT o.book_id, t.id, o.id, CASE WHEN t.amount < 0 THEN 'correction' ELSE 'payment' END,
    t.method, t.amount,
    -- The change is that of the last payment, as far as it reaches.
    CASE WHEN t.amount > 0 AND 1 = row_number() OVER (
            PARTITION BY o.book_id, o.id, t.amount > 0 ORDER BY t.created_at DESC, t.id DESC)
        THEN least(o.change_amount, t.amount) ELSE 0 END,
    t.id, o.recorded_by_id, o.recorded_by_name, t.happened_at, t.created_at
FROM transactions t JOIN orders o ON o.book_id = t.book_id AND o.id = t.source_id
WHERE t.source_type = 'order' AND t.status = 'successful'
    AND t.type IN ('sale', 'debt_payment', 'adjustment');
INSERT INTO refunds (book_id, id, order_id, method, amount, transaction_id, recorded_by_id,
    recorded_by_name, happened_at, created_at)
SELECT o.book_id, t.id, o.id, t.method, -t.amount, t.id, o.recorded_by_id, o.recorded_by_name,
    t.happened_at, t.created_at
FROM transactions t JOIN orders o ON o.book_id = t.book_id AND o.id = t.source_id
WHERE t.source_type = 'order' AND t.status = 'successful' AND t.type = 'refund';
