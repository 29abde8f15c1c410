-- A payout's fee, and one that completes after it was called failed, leave the wallet as far as it
-- covers them. The rest is due, and is taken as money comes in.
ALTER TABLE withdrawals
    ADD COLUMN fee_due numeric NOT NULL DEFAULT 0,
    ADD COLUMN amount_due numeric NOT NULL DEFAULT 0,
    ADD CONSTRAINT withdrawals_due_bounds
        CHECK (fee_due BETWEEN 0 AND fee AND amount_due BETWEEN 0 AND amount::numeric);

-- Fees were booked, and never left the wallet.
UPDATE withdrawals SET fee_due = fee WHERE fee > 0;

CREATE INDEX withdrawals_due ON withdrawals (book_id, id) WHERE fee_due > 0 OR amount_due > 0;

-- The sandbox takes a fee of some payouts.
ALTER TABLE sandbox_payouts ADD COLUMN fee numeric NOT NULL DEFAULT 0 CHECK (fee >= 0);
