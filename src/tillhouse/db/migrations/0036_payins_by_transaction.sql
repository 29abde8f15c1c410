-- A transaction tells through which payment link it came.
CREATE INDEX payins_by_transaction ON payins (book_id, transaction_id)
    WHERE transaction_id IS NOT NULL;
