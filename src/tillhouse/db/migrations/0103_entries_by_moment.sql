-- Entries of the books are read by the day on which money moved.
CREATE INDEX ledger_transfers_by_moment ON ledger_transfers (book_id, happened_at, id);
