-- The opposite of a transfer.
-- src/tillhouse/ledger/store/reversal.py: record_reversal
--   $1 book_id uuid
--   $2 now timestamptz
--   $3 currency text
--   $4 transfer_id uuid
--   $5 reversal_id uuid
--   $6 source_type text
--   $7 source_id uuid
--   $8 happened_at timestamptz
--   $9 sequence int4
--   $10 store_id uuid
PREPARE ledger_reverse (uuid, timestamptz, text, uuid, uuid, text, uuid, timestamptz, int4, uuid) AS
WITH original AS (
            SELECT t.debit_kind, t.debit_owner, t.credit_kind, t.credit_owner, t.amount
            FROM ledger_transfers t
            WHERE t.book_id = $1 AND t.id = $4 AND t.currency = $3 AND t.reverses_id IS NULL
                AND NOT EXISTS (SELECT FROM ledger_transfers r
                    WHERE r.book_id = $1 AND r.reverses_id = $4)
        ), source AS (
            SELECT $6::text AS source_type, $7::uuid AS source_id, $8::timestamptz AS happened_at,
                $10::uuid AS store_id
        ), posting AS (
            SELECT $7::uuid AS source_id, credit_kind AS debit_kind, credit_owner AS debit_owner,
                debit_kind AS credit_kind, debit_owner AS credit_owner, amount
            FROM original
        ), reversed AS (
            INSERT INTO ledger_transfers (book_id, id, debit_kind, debit_owner, credit_kind,
                credit_owner, amount, currency, kind, source_type, source_id, sequence,
                reverses_id, happened_at, created_at)
            SELECT $1, $5, p.debit_kind, p.debit_owner, p.credit_kind, p.credit_owner, p.amount,
                $3, 'reversal', source_type, source_id, $9, $4, happened_at, $2
            FROM posting p JOIN source USING (source_id)
        ),
    tallied AS (
        INSERT INTO ledger_tally_changes (book_id, account_kind, is_cost, quarter_at, store_id,
            amount)
        SELECT $1::uuid, side.kind,
            side.other IN ('expenses', 'fees', 'disputes', 'withdrawals_in_transit'),
            date_bin('15 minutes', source.happened_at, '2001-01-01Z'), source.store_id,
            sum(side.amount)
        FROM posting p JOIN source USING (source_id)
        CROSS JOIN LATERAL (VALUES (p.debit_kind, p.debit_owner, p.credit_kind, p.amount),
            (p.credit_kind, p.credit_owner, p.debit_kind, -p.amount))
            AS side (kind, owner_id, other, amount)
        WHERE side.kind IN ('cash', 'bank', 'pos', 'provider_clearing', 'other_tender', 'refunds',
                'tips')
            -- Another currency has an account of its own, which is no part of these sums.
            AND side.owner_id = '00000000-0000-0000-0000-000000000000'
        GROUP BY 2, 3, 4, 5
    )
,
    turnover AS MATERIALIZED (
        SELECT side.kind, side.owner_id, sum(side.debit) AS debits, sum(side.credit) AS credits
        FROM posting p JOIN source USING (source_id)
        CROSS JOIN LATERAL (VALUES (p.debit_kind, p.debit_owner, p.amount, 0),
            (p.credit_kind, p.credit_owner, 0, p.amount)) AS side (kind, owner_id, debit, credit)
        WHERE side.kind IN ('wallet', 'customer_credit')
        GROUP BY side.kind, side.owner_id
    ),
    bounded AS MATERIALIZED (
        SELECT b.kind, b.owner_id
        FROM turnover t
        JOIN ledger_balances b
            ON b.book_id = $1::uuid AND b.kind = t.kind AND b.owner_id = t.owner_id
        ORDER BY b.kind, b.owner_id
        FOR NO KEY UPDATE OF b
    ),
    drawn AS (
        UPDATE ledger_balances b SET debits = b.debits + t.debits, credits = b.credits + t.credits
        FROM turnover t
        WHERE b.book_id = $1::uuid AND b.kind = t.kind AND b.owner_id = t.owner_id
            AND t.debits > t.credits AND (SELECT count(*) FROM bounded) >= 0
        RETURNING b.kind, b.owner_id
    ),
    -- What would be drawn from a balance that isn't there arrives here, and fails the same check.
    balanced AS (
        INSERT INTO ledger_balances AS b (book_id, kind, owner_id, debits, credits)
        SELECT $1::uuid, t.kind, t.owner_id, t.debits, t.credits
        FROM turnover t
        WHERE (SELECT count(*) FROM bounded) >= 0
            AND (t.kind, t.owner_id) NOT IN (SELECT d.kind, d.owner_id FROM drawn d)
        ORDER BY 2, 3
        ON CONFLICT (book_id, kind, owner_id)
            DO UPDATE SET debits = b.debits + excluded.debits,
                credits = b.credits + excluded.credits
    )
 SELECT true FROM original;
