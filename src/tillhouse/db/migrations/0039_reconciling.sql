-- A provider's transaction may be several payments; its name is what their names begin with.
CREATE INDEX payins_by_provider_transaction
    ON payins (book_id, provider, split_part(provider_transaction_id, '#', 1));
