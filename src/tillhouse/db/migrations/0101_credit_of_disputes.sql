-- The credit that a payment had become is held while a dispute has its money.
ALTER TABLE disputes ADD COLUMN credit_hold_id uuid;
ALTER TABLE disputes ADD COLUMN credit_holds integer NOT NULL DEFAULT 0;
ALTER TABLE disputes ADD CONSTRAINT disputes_credit_hold_fkey
    FOREIGN KEY (book_id, credit_hold_id) REFERENCES ledger_holds (book_id, id);
