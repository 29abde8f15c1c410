-- The answer that a key has.
-- src/tillhouse/http/store.py: find_answer
--   $1 book_id uuid
--   $2 surface text
--   $3 key text
PREPARE idempotency_find (uuid, text, text) AS
SELECT fingerprint, answer FROM idempotency_keys
WHERE book_id = $1 AND surface = $2 AND key = $3;
