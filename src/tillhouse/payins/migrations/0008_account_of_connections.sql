-- Since 0.1.0: the mark of the account that a connection is of, by the provider's own name of it:
-- a changed key of one account is told by it from another account. NULL: the name is not known.
ALTER TABLE payment_providers ADD COLUMN account_mark bytea;
