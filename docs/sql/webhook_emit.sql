-- Events, with their deliveries.
-- src/tillhouse/webhooks/store/events.py: insert_events
--   $1 book_id uuid
--   $2 now timestamptz
--   $3 ids uuid[]
--   $4 types text[]
--   $5 payloads text[]
--   $6 moments timestamptz[]
--   $7 app_id uuid
--   $8 entity_ids uuid[]
PREPARE webhook_emit (uuid, timestamptz, uuid[], text[], text[], timestamptz[], uuid, uuid[]) AS
WITH told AS MATERIALIZED (
            SELECT t.*, $7::uuid AS app_id
            FROM unnest($3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $8::uuid[])
                AS t (id, type, payload, at, entity_id)
        ),
    event AS (
        INSERT INTO webhook_events (book_id, id, type, developer_app_id, payload, entity_id)
        SELECT $1, id, type, app_id, payload, entity_id FROM told
    ), delivery AS (
        INSERT INTO webhook_deliveries (book_id, id, developer_app_id, webhook_endpoint_id,
            event_id, event_type, status, url, next_attempt_at, updated_at)
        SELECT e.book_id, new_id(t.at), e.developer_app_id, e.id, t.id, t.type, 'pending',
            e.url, $2, $2
        FROM webhook_endpoints e JOIN told t ON t.type = ANY(e.events) OR e.events = '{*}'
        WHERE e.book_id = $1 AND e.status = 'active'
            AND (t.app_id IS NULL OR e.developer_app_id = t.app_id)
        RETURNING id, webhook_endpoint_id, event_id
    ), queued AS (
        INSERT INTO webhook_queue (book_id, delivery_id, endpoint_id, event_id, due_at)
        SELECT $1, id, webhook_endpoint_id, event_id, made_at(id) FROM delivery
        RETURNING 1
    )
SELECT count(*) FROM queued;
