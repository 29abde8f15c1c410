-- Entries of a kind are found by an index. Every sale makes a `sale` and a `payment`, which are
-- near wherever one looks: they are no part of it, so that a sale pays nothing for it.
CREATE INDEX ledger_transfers_by_kind ON ledger_transfers (book_id, kind, id)
    WHERE kind NOT IN ('sale', 'payment');
