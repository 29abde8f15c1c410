-- Change that moves after its payment is a transaction of its own: a lower total makes change of
-- what was paid before, a higher one takes it back.
ALTER DOMAIN transaction_type DROP CONSTRAINT transaction_type_known;
ALTER DOMAIN transaction_type ADD CONSTRAINT transaction_type_known CHECK (VALUE IN (
    'sale', 'debt_payment', 'wallet_deposit', 'wallet_withdrawal', 'refund', 'reversal', 'fee',
    'expense', 'credit', 'adjustment', 'tip', 'change'));
