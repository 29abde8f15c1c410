-- What became of a batch.
-- src/tillhouse/webhooks/store/queue.py: record_batch
--   $1 book_id uuid[]
--   $2 delivery_id uuid[]
--   $3 generation int4[]
--   $4 url text[]
--   $5 is_delivered bool[]
--   $6 response_status int4[]
--   $7 latency_ms int4[]
--   $8 error text[]
--   $9 entry text[]
--   $10 retry_at timestamptz[]
--   $11 at timestamptz[]
PREPARE webhook_record (uuid[], uuid[], int4[], text[], bool[], int4[], int4[], text[], text[],
    timestamptz[], timestamptz[]) AS
WITH done AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::bool[],
        $6::int[], $7::int[], $8::text[], $9::text[], $10::timestamptz[],
        $11::timestamptz[])
        AS d (book_id, delivery_id, generation, url, is_delivered, response_status,
            latency_ms, error, entry, retry_at, at)
), over AS (
    DELETE FROM webhook_queue q USING done d
    WHERE q.book_id = d.book_id AND q.delivery_id = d.delivery_id
        AND q.generation = d.generation AND q.is_claimed AND d.retry_at IS NULL
    RETURNING d.*
), later AS (
    UPDATE webhook_queue q SET due_at = d.retry_at, is_claimed = false,
        attempt = q.attempt + 1
    FROM done d
    WHERE q.book_id = d.book_id AND q.delivery_id = d.delivery_id
        AND q.generation = d.generation AND q.is_claimed AND d.retry_at IS NOT NULL
    RETURNING d.*
), current AS (
    SELECT * FROM over UNION ALL SELECT * FROM later
), outdated AS (
    SELECT book_id, delivery_id, entry FROM done
    EXCEPT SELECT book_id, delivery_id, entry FROM current
), stale AS (
    UPDATE webhook_deliveries x SET attempts_log = x.attempts_log || o.entry::jsonb
    FROM outdated o
    WHERE x.book_id = o.book_id AND x.id = o.delivery_id
        AND NOT x.attempts_log @> jsonb_build_array(o.entry::jsonb)
)
UPDATE webhook_deliveries x SET
    status = CASE WHEN c.is_delivered THEN 'delivered' ELSE 'failed' END,
    url = c.url, attempts = x.attempts + 1, response_status = c.response_status,
    latency_ms = c.latency_ms, error_message = c.error,
    attempts_log = x.attempts_log || c.entry::jsonb, next_attempt_at = c.retry_at,
    delivered_at = CASE WHEN c.is_delivered THEN c.at END, updated_at = c.at
FROM current c
WHERE x.book_id = c.book_id AND x.id = c.delivery_id;
