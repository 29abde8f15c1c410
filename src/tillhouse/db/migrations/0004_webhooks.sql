-- Outbound webhooks: endpoints, secrets, events, deliveries and the queue that drives them.

-- A version 7 uuid, for rows that one statement makes in numbers that it alone knows.
CREATE FUNCTION new_id(moment timestamptz) RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
        PLACING substring(int8send((extract(epoch FROM moment) * 1000)::bigint) FROM 3)
        FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid;

-- The least id of a moment: ids carry their time, so a range of ids is a range of time.
CREATE FUNCTION least_id(moment timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN encode(substring(int8send((extract(epoch FROM moment) * 1000)::bigint) FROM 3)
        || '\x70008000000000000000'::bytea, 'hex')::uuid;

-- The moment that an id carries.
CREATE FUNCTION made_at(id uuid) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN to_timestamp(
        ('x' || lpad(replace(left(id::text, 13), '-', ''), 16, '0'))::bit(64)::bigint / 1000.0);

CREATE TABLE webhook_secrets (
    book_id uuid NOT NULL,
    developer_app_id uuid NOT NULL,
    secret_prefix text NOT NULL,
    secret_sealed bytea NOT NULL,
    rotated_at timestamptz(3),
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, developer_app_id),
    FOREIGN KEY (book_id, developer_app_id) REFERENCES developer_apps (book_id, id)
);

CREATE TABLE webhook_endpoints (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    developer_app_id uuid NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL
        CONSTRAINT webhook_endpoints_have_an_event CHECK (cardinality(events) > 0),
    status text NOT NULL CONSTRAINT webhook_endpoints_status_known
        CHECK (status IN ('active', 'disabled')),
    last_delivery_status text,
    failure_count integer NOT NULL DEFAULT 0,
    last_delivered_at timestamptz(3),
    disabled_at timestamptz(3),
    -- While it fails, one attempt at a time probes it; until when the present one may take.
    probe_until timestamptz,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, developer_app_id) REFERENCES webhook_secrets (book_id, developer_app_id)
) WITH (fillfactor = 50);
CREATE INDEX webhook_endpoints_by_app ON webhook_endpoints (developer_app_id, status);

-- Old partitions are dropped whole: no clean-up ever deletes row by row.
CREATE TABLE webhook_events (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    -- The app whose key caused it; null when a person, a payer or a worker did.
    developer_app_id uuid,
    payload text NOT NULL,
    PRIMARY KEY (book_id, id)
) PARTITION BY RANGE (id);
CREATE TABLE webhook_events_rest PARTITION OF webhook_events DEFAULT;

CREATE TABLE webhook_deliveries (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    developer_app_id uuid NOT NULL,
    webhook_endpoint_id uuid NOT NULL,
    event_id uuid NOT NULL,
    event_type text NOT NULL,
    status text NOT NULL CONSTRAINT webhook_deliveries_status_known
        CHECK (status IN ('pending', 'delivered', 'failed')),
    url text NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    response_status integer,
    latency_ms integer,
    error_message text,
    attempts_log jsonb NOT NULL DEFAULT '[]',
    next_attempt_at timestamptz(3),
    delivered_at timestamptz(3),
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id)
) PARTITION BY RANGE (id);
CREATE TABLE webhook_deliveries_rest PARTITION OF webhook_deliveries DEFAULT;
-- None of these begins like the primary key: a plan that was made while a week was still empty
-- could mistake one for the other.
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (webhook_endpoint_id, id);
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id);
CREATE INDEX webhook_deliveries_by_type ON webhook_deliveries (event_type, book_id, id);
CREATE INDEX webhook_deliveries_undelivered
    ON webhook_deliveries (status, book_id, id) WHERE status <> 'delivered';

-- What is still to be sent, and nothing else: small whatever the log's size.
CREATE TABLE webhook_queue (
    book_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    event_id uuid NOT NULL,
    attempt integer NOT NULL DEFAULT 1,
    -- When to send; of a claimed row, when its lease ends and anybody may claim it again.
    due_at timestamptz NOT NULL,
    is_claimed boolean NOT NULL DEFAULT false,
    -- Each claim and each resend is a generation: the result of an older one changes nothing.
    generation integer NOT NULL DEFAULT 0,
    -- No foreign key to the endpoint: its check would lock the busiest row at every event.
    PRIMARY KEY (book_id, delivery_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
CREATE INDEX webhook_queue_by_lane ON webhook_queue (endpoint_id, due_at);

-- Makes the partitions of this week and the next two, drops those that are older than is kept.
-- Partitions are weeks (from Monday, UTC) named by their first day. Returns how many it dropped.
CREATE FUNCTION turn_webhook_partitions(moment timestamptz, keep_days integer) RETURNS integer
    LANGUAGE plpgsql AS $$
DECLARE
    parent text;
    child text;
    week date;
    dropped integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('webhook partitions', 0));
    FOREACH parent IN ARRAY ARRAY['webhook_events', 'webhook_deliveries'] LOOP
        FOR ahead IN 0..2 LOOP
            week := date_trunc('week', moment AT TIME ZONE 'UTC')::date + 7 * ahead;
            child := format('%s_%s', parent, to_char(week, 'YYYYMMDD'));
            IF to_regclass(child) IS NULL THEN
                EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
                    child, parent, least_id(week::timestamp AT TIME ZONE 'UTC'),
                    least_id((week + 7)::timestamp AT TIME ZONE 'UTC'));
            END IF;
        END LOOP;
        FOR child IN
            SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = parent::regclass AND c.relname ~ '_[0-9]{8}$'
                AND to_date(right(c.relname, 8), 'YYYYMMDD') + 7
                    < (moment AT TIME ZONE 'UTC')::date - keep_days
        LOOP
            EXECUTE format('DROP TABLE %I', child);
            dropped := dropped + 1;
        END LOOP;
    END LOOP;
    RETURN dropped;
END $$;

SELECT turn_webhook_partitions(now(), 36500);
