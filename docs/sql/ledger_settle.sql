-- A hold that becomes a transfer.
-- src/tillhouse/ledger/store/holds.py: record_settlement
--   $1 book_id uuid
--   $2 now timestamptz
--   $3 currency text
--   $4 hold_id uuid
--   $5 transfer_id uuid
--   $6 credit_kind text
--   $7 credit_owner uuid
--   $8 amount numeric
--   $9 kind text
PREPARE ledger_settle (uuid, timestamptz, text, uuid, uuid, text, uuid, numeric, text) AS
WITH ended AS (
            UPDATE ledger_holds SET status = 'posted', transfer_id = $5, ended_at = $2
            WHERE book_id = $1 AND id = $4 AND status = 'pending' AND currency = $3
                AND amount >= coalesce($8, amount) AND (expires_at IS NULL OR expires_at > $2)
            RETURNING source_type, source_id, account_kind, account_owner, amount AS held,
                sequence
        ), source AS (
            SELECT source_type, source_id, $2::timestamptz AS happened_at FROM ended
        ), posting AS (
            SELECT source_id, $5::uuid AS id, account_kind AS debit_kind,
                account_owner AS debit_owner, $6::text AS credit_kind, $7::uuid AS credit_owner,
                coalesce($8::numeric, held) AS amount, $9::text AS kind, sequence
            FROM ended
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
        UPDATE ledger_balances b SET debits = b.debits + t.debits, credits = b.credits + t.credits,
            held = b.held - coalesce((SELECT e.held FROM ended e
                WHERE e.account_kind = b.kind AND e.account_owner = b.owner_id), 0)
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
 SELECT true FROM ended;
