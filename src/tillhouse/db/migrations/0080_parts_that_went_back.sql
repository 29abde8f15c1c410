-- What a provider took back of a payment by itself, in parts, beside the refunds of ours.

ALTER TABLE payins
    -- Of refunds of ours that go back through the provider, or went.
    ADD COLUMN given_back numeric NOT NULL DEFAULT 0
        CONSTRAINT payins_given_back_bounds CHECK (given_back >= 0),
    -- What the provider says that it took back by itself, and what of it is booked: never more
    -- than our refunds leave of the payment.
    ADD COLUMN returned_told numeric NOT NULL DEFAULT 0,
    ADD COLUMN returned_amount numeric NOT NULL DEFAULT 0,
    -- The part of its fee that the provider gave back meanwhile.
    ADD COLUMN returned_fee numeric NOT NULL DEFAULT 0,
    -- What of it the target has given back.
    ADD COLUMN returned_applied numeric NOT NULL DEFAULT 0,
    ADD COLUMN returned_at timestamptz(3),
    -- How often something was posted for it since it was received.
    ADD COLUMN postings integer NOT NULL DEFAULT 0;

UPDATE payins SET returned_told = amount, returned_amount = amount, returned_fee = fee,
    returned_applied = CASE WHEN reversal_applied_at IS NULL THEN 0 ELSE amount END,
    returned_at = reversed_at
WHERE status = 'reversed';
UPDATE payins p SET given_back = f.amount
FROM (
    SELECT book_id, payin_id, sum(amount) AS amount FROM refunds
    WHERE payin_id IS NOT NULL AND hold_id IS NOT NULL AND status IN ('pending', 'successful')
    GROUP BY book_id, payin_id
) f
WHERE p.book_id = f.book_id AND p.id = f.payin_id;

ALTER TABLE payins
    ADD CONSTRAINT payins_returned_bounds CHECK (returned_amount >= 0
        AND returned_amount <= amount AND returned_amount <= returned_told),
    ADD CONSTRAINT payins_returned_fee_bounds CHECK (returned_fee >= 0 AND returned_fee <= fee),
    ADD CONSTRAINT payins_returned_applied_bounds
        CHECK (returned_applied >= 0 AND returned_applied <= returned_amount);

DROP INDEX payins_to_apply;
CREATE INDEX payins_to_apply ON payins (book_id, target_type, target_id)
    WHERE applied_at IS NULL OR returned_applied < returned_amount;

-- A payment of a stay may be taken back in parts.
DROP INDEX folio_payments_receipt_key;
CREATE UNIQUE INDEX folio_payments_receipt_key ON folio_payments (book_id, receipt_id)
    WHERE receipt_id IS NOT NULL AND kind = 'payment';
