-- Books may share an account of a provider: what its list tells is another book's where that book
-- gave the reference. References are random, so that one names one row of all books.
CREATE INDEX virtual_accounts_by_reference ON virtual_accounts (reference);
CREATE INDEX withdrawals_by_provider_key ON withdrawals (provider_key);
