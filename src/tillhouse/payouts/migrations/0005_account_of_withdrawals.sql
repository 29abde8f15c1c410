-- Since 0.1.0: the mark of the account of a provider that was asked for a withdrawal last:
-- one that may have been executed is never sent again by another account.
ALTER TABLE withdrawals ADD COLUMN asked_with bytea;
