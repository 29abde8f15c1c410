-- Debts and credits that changed while 0027 counted them are counted again, with nobody beside.
LOCK TABLE ledger_balances, debts IN SHARE ROW EXCLUSIVE MODE;
UPDATE debt_tallies SET balance = 0 WHERE balance <> 0;
INSERT INTO debt_tallies (book_id, status, slot, debts, balance)
SELECT d.book_id, d.status, 0, 0, sum(d.balance)
FROM debts d JOIN books k ON k.id = d.book_id GROUP BY 1, 2
ON CONFLICT (book_id, status, slot) DO UPDATE SET balance = excluded.balance;
DELETE FROM customer_credit_tallies;
INSERT INTO customer_credit_tallies (book_id, slot, credit)
SELECT book_id, 0, sum(credits - debits) FROM ledger_balances
WHERE kind = 'customer_credit' GROUP BY book_id;

-- Pages of expenses pass over those that were taken back, and over other stores.
DROP INDEX expenses_by_time;
CREATE INDEX expenses_by_time ON expenses (book_id, happened_at, id) WHERE voided_at IS NULL;
CREATE INDEX expenses_by_store ON expenses (book_id, store_id, happened_at, id)
    WHERE voided_at IS NULL;
