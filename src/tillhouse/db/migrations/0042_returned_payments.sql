-- Refunds that go back through the provider by which the money came.

ALTER TABLE refunds
    -- None until the money is back.
    ALTER COLUMN transaction_id DROP NOT NULL,
    -- The money that arrived and of which this is given back.
    ADD COLUMN payin_id uuid,
    -- The amount in the wallet until the outcome is known, and the overpayment in it that the
    -- customer's credit keeps.
    ADD COLUMN hold_id uuid,
    ADD COLUMN credit_hold_id uuid,
    -- Whether the stock of its lines is to come back with the money.
    ADD COLUMN restocks boolean NOT NULL DEFAULT false,
    -- When the provider was asked for it last, and whether that may have been executed.
    ADD COLUMN asked_at timestamptz(3),
    ADD COLUMN is_unclear boolean NOT NULL DEFAULT false,
    -- The part that the order no longer had, and the part that was of the sale.
    ADD COLUMN shortfall order_amount NOT NULL DEFAULT 0,
    ADD COLUMN of_sale order_amount NOT NULL DEFAULT 0,
    ADD COLUMN failure_reason text,
    ADD COLUMN ended_at timestamptz(3),
    ADD CONSTRAINT refunds_shortfall_within_amount CHECK (shortfall <= amount),
    ADD CONSTRAINT refunds_have_transactions CHECK (transaction_id IS NOT NULL
        OR (hold_id IS NOT NULL AND (status IN ('pending', 'failed') OR shortfall = amount))),
    ADD FOREIGN KEY (book_id, payin_id) REFERENCES payins (book_id, id);
CREATE UNIQUE INDEX refunds_sent ON refunds (book_id, id) WHERE hold_id IS NOT NULL;
CREATE INDEX refunds_of_payin ON refunds (book_id, payin_id) WHERE payin_id IS NOT NULL;
-- The sum of an order's refunds that are on their way: its row is what changes of it are locked by.
ALTER TABLE orders ADD COLUMN returning_amount order_amount NOT NULL DEFAULT 0;
