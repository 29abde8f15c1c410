-- What that says of the endpoints.
-- src/tillhouse/webhooks/store/queue.py: update_endpoint_results
--   $1 book_id uuid[]
--   $2 endpoint_id uuid[]
--   $3 had_success bool[]
--   $4 had_probe bool[]
--   $5 failures_after int4[]
--   $6 last_status text[]
--   $7 last_delivered_at timestamptz[]
--   $8 now timestamptz
--   $9 most int4
--   $10 warn int4
PREPARE webhook_endpoint_results (uuid[], uuid[], bool[], bool[], int4[], text[], timestamptz[],
    timestamptz, int4, int4) AS
WITH result AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bool[], $4::bool[], $5::int[],
        $6::text[], $7::timestamptz[]) AS r (book_id, endpoint_id, had_success,
            had_probe, failures_after, last_status, last_delivered_at)
), locked AS (
    SELECT e.book_id, e.id, e.status, b.business_id, b.environment,
        CASE WHEN r.had_success THEN r.failures_after
            ELSE e.failure_count + r.failures_after END AS failures,
        CASE WHEN NOT r.had_success THEN e.failure_count ELSE 0 END AS failures_before,
        CASE WHEN r.had_success AND r.failures_after = 0 THEN NULL
            WHEN r.had_success OR e.first_failed_at IS NULL THEN $8
            ELSE e.first_failed_at END AS first_failed_at,
        r.last_status, r.last_delivered_at, r.had_probe
    FROM webhook_endpoints e
    JOIN result r ON r.book_id = e.book_id AND r.endpoint_id = e.id
    JOIN books b ON b.id = e.book_id
    ORDER BY e.book_id, e.id FOR NO KEY UPDATE OF e
), updated AS (
    UPDATE webhook_endpoints e SET failure_count = l.failures,
        first_failed_at = l.first_failed_at,
        probe_until = CASE WHEN NOT l.had_probe THEN e.probe_until END,
        last_delivery_status = l.last_status,
        last_delivered_at = coalesce(l.last_delivered_at, e.last_delivered_at),
        status = CASE WHEN l.failures >= $9 THEN 'disabled' ELSE e.status END,
        disabled_at = CASE WHEN l.failures >= $9 AND e.status = 'active' THEN $8
            ELSE e.disabled_at END
    FROM locked l WHERE e.book_id = l.book_id AND e.id = l.id
)
SELECT book_id, id, business_id, environment, failures, first_failed_at,
    failures >= $9 AS is_disabled
FROM locked
WHERE status = 'active'
    AND (failures >= $9 OR (failures >= $10 AND failures_before < $10));
