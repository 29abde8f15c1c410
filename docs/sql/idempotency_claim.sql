-- A key that was used, taken by the request that comes again.
-- src/tillhouse/http/store.py: claim_key
--   $1 book_id uuid
--   $2 surface text
--   $3 key text
--   $4 fingerprint bytea
--   $5 now timestamptz
PREPARE idempotency_claim (uuid, text, text, bytea, timestamptz) AS
INSERT INTO idempotency_keys (book_id, surface, key, fingerprint, created_at)
VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING true;
