-- A payment that its provider doesn't give back is paid out: by a withdrawal that names its order.

ALTER TABLE withdrawals
    ADD COLUMN order_id uuid,
    ALTER COLUMN transaction_id DROP NOT NULL,
    ADD FOREIGN KEY (book_id, order_id) REFERENCES orders (book_id, id),
    -- That of a refund is the refund's, which is there once the money is.
    ADD CONSTRAINT withdrawals_have_transactions
        CHECK (transaction_id IS NOT NULL OR order_id IS NOT NULL);

ALTER TABLE refunds
    ADD COLUMN withdrawal_id uuid,
    ADD FOREIGN KEY (book_id, withdrawal_id) REFERENCES withdrawals (book_id, id),
    -- One way out: through the provider, or by a withdrawal.
    ADD CONSTRAINT refunds_go_one_way CHECK (hold_id IS NULL OR withdrawal_id IS NULL),
    DROP CONSTRAINT refunds_have_transactions,
    ADD CONSTRAINT refunds_have_transactions CHECK (transaction_id IS NOT NULL
        OR ((hold_id IS NOT NULL OR withdrawal_id IS NOT NULL)
            AND (status IN ('pending', 'failed') OR shortfall = amount)));
CREATE UNIQUE INDEX refunds_of_withdrawal ON refunds (book_id, withdrawal_id)
    WHERE withdrawal_id IS NOT NULL;
-- Both are found by their ids.
DROP INDEX refunds_sent;
CREATE UNIQUE INDEX refunds_sent ON refunds (book_id, id)
    WHERE hold_id IS NOT NULL OR withdrawal_id IS NOT NULL;
-- Those on their way are few, and looked for in all books.
CREATE INDEX refunds_on_their_way ON refunds (book_id, id) WHERE status = 'pending';
