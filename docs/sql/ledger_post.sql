-- What a change posts.
-- src/tillhouse/ledger/store/posting.py: record_postings
--   $1 book_id uuid
--   $2 now timestamptz
--   $3 currency text
--   $4 posting json
--   $5 movement json
--   $6 owing json
--   $7 source_types text[]
--   $8 source_ids uuid[]
--   $9 customer_ids uuid[]
--   $10 store_ids uuid[]
--   $11 happened_at timestamptz[]
PREPARE ledger_post (uuid, timestamptz, text, json, json, json, text[], uuid[], uuid[], uuid[],
    timestamptz[]) AS
WITH
    posting AS (
        SELECT * FROM json_to_recordset($4) AS p (source_id uuid, id uuid, debit_kind text,
            debit_owner uuid, credit_kind text, credit_owner uuid, amount numeric, kind text,
            sequence integer)
    ),
    movement AS (
        SELECT * FROM json_to_recordset($5) AS m (source_id uuid, id uuid, reference text,
            type text, status text, method text, amount numeric)
    ),
    owing AS (
        SELECT * FROM json_to_recordset($6) AS o (source_id uuid, id uuid, customer_id uuid,
            balance numeric, closes text)
    )
,
        source AS MATERIALIZED (
            SELECT s.source_type, s.source_id, s.customer_id, s.store_id,
                -- A moment in a closed period is told late: the books take it now.
                CASE WHEN s.moment < $2 THEN booked_at($1, s.moment, $2) ELSE s.moment END
                    AS happened_at
            FROM unnest($7::text[], $8::uuid[], $9::uuid[], $10::uuid[], $11::timestamptz[])
                AS s (source_type, source_id, customer_id, store_id, moment)
        ),
    opened AS (
        INSERT INTO ledger_accounts (book_id, kind, owner_id, currency, created_at)
        SELECT DISTINCT $1::uuid, side.kind, side.owner_id, $3::text, $2::timestamptz
        FROM posting p JOIN source USING (source_id)
        CROSS JOIN LATERAL (VALUES (p.debit_kind, p.debit_owner), (p.credit_kind, p.credit_owner))
            AS side (kind, owner_id)
        ORDER BY 2, 3
        -- Of either unique index: a rival's row may be met in the one that isn't named.
        ON CONFLICT DO NOTHING
    )
,
    posted AS (
        INSERT INTO ledger_transfers (book_id, id, debit_kind, debit_owner, credit_kind,
            credit_owner, amount, currency, kind, source_type, source_id, sequence, happened_at,
            created_at)
        SELECT $1::uuid, p.id, p.debit_kind, p.debit_owner, p.credit_kind, p.credit_owner,
            p.amount, $3::text, p.kind, source.source_type, source_id, p.sequence,
            source.happened_at, $2::timestamptz
        FROM posting p JOIN source USING (source_id)
    )
,
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
    seen AS (
        INSERT INTO transactions (book_id, id, reference, type, status, method, amount, currency,
            source_type, source_id, customer_id, store_id, happened_at, created_at, updated_at)
        SELECT $1::uuid, m.id, m.reference, m.type, coalesce(m.status, 'successful'), m.method,
            m.amount, $3::text, source.source_type, source_id, source.customer_id,
            source.store_id, source.happened_at, $2::timestamptz, $2::timestamptz
        FROM movement m JOIN source USING (source_id)
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
,
    settled AS (
        UPDATE debts d SET status = o.closes, balance = 0, closed_at = $2::timestamptz,
            updated_at = $2::timestamptz
        FROM owing o JOIN source USING (source_id)
        WHERE d.book_id = $1::uuid AND d.source_id = source.source_id
            AND d.source_type = source.source_type AND d.status = 'active'
            AND o.closes IS NOT NULL
        RETURNING d.id
    ),
    owed AS (
        INSERT INTO debts AS d (book_id, id, source_type, source_id, customer_id, status, balance,
            currency, opened_at, updated_at)
        SELECT $1::uuid, o.id, source.source_type, source_id, o.customer_id, 'active', o.balance,
            $3::text, source.happened_at, $2::timestamptz
        FROM owing o JOIN source USING (source_id)
        WHERE o.closes IS NULL AND (SELECT count(*) FROM settled) >= 0
        ON CONFLICT (book_id, source_id, source_type) WHERE status = 'active'
            DO UPDATE SET balance = excluded.balance, updated_at = excluded.updated_at
    )
SELECT 1;
