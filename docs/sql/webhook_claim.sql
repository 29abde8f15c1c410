-- A sender's next batch.
-- src/tillhouse/webhooks/store/queue.py: claim_batch
--   $1 after uuid
--   $2 endpoints int8
--   $3 now timestamptz
--   $4 lease_ends_at timestamptz
--   $5 busy jsonb
--   $6 window int4
--   $7 failures_to_probe int4
--   $8 free int8
--   $9 deep int8
--   $10 unproven int8
--   $11 probes int8
PREPARE webhook_claim (uuid, int8, timestamptz, timestamptz, jsonb, int4, int4, int8, int8, int8,
    int8) AS
WITH RECURSIVE queued AS (
    (SELECT q.endpoint_id, q.book_id, q.due_at FROM webhook_queue q
        WHERE q.endpoint_id > $1 ORDER BY q.endpoint_id, q.due_at LIMIT 1)
    UNION ALL
    SELECT n.endpoint_id, n.book_id, n.due_at FROM queued l CROSS JOIN LATERAL (
        SELECT q.endpoint_id, q.book_id, q.due_at FROM webhook_queue q
        WHERE q.endpoint_id > l.endpoint_id ORDER BY q.endpoint_id, q.due_at LIMIT 1) n
), looked AS (
    SELECT * FROM queued LIMIT $2
), onward AS (
    SELECT (SELECT endpoint_id FROM looked ORDER BY endpoint_id OFFSET $2 - 1) AS after
)
, due AS (
    SELECT l.book_id, l.endpoint_id, l.due_at, e.is_failing, k.under_way, k.size,
        e.is_unproven OR k.is_doubted AS is_unproven
    FROM looked l
    CROSS JOIN LATERAL (
        SELECT e.failure_count >= $7 AS is_failing,
            e.last_delivery_status IS DISTINCT FROM 'delivered' AS is_unproven
        FROM webhook_endpoints e
        WHERE e.book_id = l.book_id AND e.id = l.endpoint_id AND e.status = 'active'
            AND (e.failure_count < $7 OR e.probe_until IS NULL OR e.probe_until <= $3)
        OFFSET 0
    ) e
    CROSS JOIN LATERAL (
        SELECT coalesce(($5::jsonb -> l.endpoint_id::text ->> 0)::int, 0) AS under_way,
            coalesce(($5::jsonb -> l.endpoint_id::text ->> 1)::int, $6) AS size,
            coalesce(($5::jsonb -> l.endpoint_id::text ->> 2)::bool, false) AS is_doubted
    ) k
    WHERE l.due_at <= $3 AND (e.is_failing OR k.size > k.under_way)
), probing AS (
    UPDATE webhook_endpoints e SET probe_until = $4
    FROM (SELECT * FROM due WHERE is_failing AND under_way = 0 ORDER BY due_at LIMIT $11) d
    WHERE e.book_id = d.book_id AND e.id = d.endpoint_id
        AND (e.probe_until IS NULL OR e.probe_until <= $3)
    RETURNING e.id
), room AS (
    (SELECT endpoint_id, under_way, size - under_way AS slots, 1 AS turn, false AS is_unproven
    FROM due WHERE NOT is_failing AND NOT is_unproven ORDER BY under_way, due_at LIMIT $8)
    UNION ALL
    (SELECT endpoint_id, under_way, size - under_way, 1, true
    FROM due WHERE NOT is_failing AND is_unproven ORDER BY under_way, due_at LIMIT $10)
    UNION ALL
    SELECT id, 0, 1, 0, true FROM probing
), found AS (
    SELECT c.book_id, c.delivery_id, c.due_at, r.turn, r.is_unproven, r.under_way
        + row_number() OVER (PARTITION BY r.endpoint_id ORDER BY c.due_at) AS level
    FROM room r CROSS JOIN LATERAL (
        SELECT q.book_id, q.delivery_id, q.due_at FROM webhook_queue q
        WHERE q.endpoint_id = r.endpoint_id AND q.due_at <= $3
        ORDER BY q.due_at LIMIT r.slots
        FOR UPDATE SKIP LOCKED) c
), allowed AS (
    SELECT *, row_number() OVER (ORDER BY turn, level, due_at) AS rank
    FROM (SELECT *, row_number() OVER
        (PARTITION BY is_unproven ORDER BY turn, level, due_at) AS of_kind FROM found) f
    WHERE NOT is_unproven OR of_kind <= $10
), chosen AS (
    SELECT * FROM allowed WHERE rank <= $8 AND (level <= $6 OR rank <= $9)
), claimed AS (
    UPDATE webhook_queue q SET is_claimed = true, due_at = $4,
        generation = q.generation + 1
    FROM chosen c WHERE q.book_id = c.book_id AND q.delivery_id = c.delivery_id
    RETURNING q.book_id, q.delivery_id, q.endpoint_id, q.event_id, q.attempt,
        q.generation, c.turn = 0 AS is_probe, c.is_unproven
)
SELECT c.*, o.after FROM onward o LEFT JOIN (
    SELECT c.book_id, c.delivery_id, c.endpoint_id, c.event_id, c.attempt, c.generation,
        c.is_probe, c.is_unproven, e.url, e.developer_app_id, s.secret_sealed, b.business_id,
        v.type, v.payload
    FROM claimed c
    JOIN webhook_endpoints e ON e.book_id = c.book_id AND e.id = c.endpoint_id
    JOIN webhook_secrets s ON s.book_id = e.book_id
        AND s.developer_app_id = e.developer_app_id
    JOIN books b ON b.id = c.book_id
    LEFT JOIN LATERAL (
        SELECT v.type, v.payload FROM webhook_events v
        WHERE v.book_id = c.book_id AND v.id = c.event_id OFFSET 0
    ) v ON true
) c ON true;
