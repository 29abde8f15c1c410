-- A key with its answer, in the transaction of the effect.
-- src/tillhouse/http/store.py: insert_answer
--   $1 book_id uuid
--   $2 now timestamptz
--   $3 surface text
--   $4 key text
--   $5 fingerprint bytea
--   $6 answer bytea
PREPARE idempotency_keep (uuid, timestamptz, text, text, bytea, bytea) AS
WITH keeping AS (
            SELECT $3::text AS surface, $4::text AS key, $5::bytea AS fingerprint,
                $6::bytea AS answer
        ),
    kept AS (
        INSERT INTO idempotency_keys (book_id, surface, key, fingerprint, answer, created_at)
        SELECT $1, surface, key, fingerprint, answer, $2 FROM keeping
    )
SELECT;
