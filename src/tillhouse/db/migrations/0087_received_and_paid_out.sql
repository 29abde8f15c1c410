-- Money that a dispute took, and what was withdrawn to a bank, are no part of what came in by a
-- method: both have figures of their own.
INSERT INTO ledger_tally_changes (book_id, account_kind, is_cost, quarter_at, amount)
SELECT t.book_id, 'provider_clearing', c.is_cost, date_bin('15 minutes', t.happened_at,
    '2001-01-01Z'), sum(CASE WHEN c.is_cost THEN t.amount ELSE -t.amount END)
FROM (
    SELECT book_id, happened_at, amount FROM ledger_transfers
    WHERE debit_kind = 'provider_clearing'
        AND credit_kind IN ('disputes', 'withdrawals_in_transit')
    UNION ALL
    SELECT book_id, happened_at, -amount FROM ledger_transfers
    WHERE credit_kind = 'provider_clearing'
        AND debit_kind IN ('disputes', 'withdrawals_in_transit')
) t
CROSS JOIN (VALUES (true), (false)) AS c (is_cost)
GROUP BY 1, 2, 3, 4;
-- Neither is money of another currency, which has an account of its own.
INSERT INTO ledger_tally_changes (book_id, account_kind, is_cost, quarter_at, amount)
SELECT t.book_id, 'provider_clearing', t.other IN ('expenses', 'fees', 'disputes',
    'withdrawals_in_transit'), date_bin('15 minutes', t.happened_at, '2001-01-01Z'), -sum(t.amount)
FROM (
    SELECT book_id, happened_at, credit_kind AS other, amount FROM ledger_transfers
    WHERE debit_kind = 'provider_clearing'
        AND debit_owner <> '00000000-0000-0000-0000-000000000000'
    UNION ALL
    SELECT book_id, happened_at, debit_kind, -amount FROM ledger_transfers
    WHERE credit_kind = 'provider_clearing'
        AND credit_owner <> '00000000-0000-0000-0000-000000000000'
) t
GROUP BY 1, 2, 3, 4;
