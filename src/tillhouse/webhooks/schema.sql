-- The secret that signs the webhooks of an app.
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

-- Where webhooks go, which events are sent there, and whether they arrive.
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
    -- When the present failures of an endpoint began: null while its last attempt succeeded.
    first_failed_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, developer_app_id) REFERENCES webhook_secrets (book_id, developer_app_id)
) WITH (fillfactor = 50);
-- The endpoints of an app that are in use.
CREATE INDEX webhook_endpoints_by_app ON webhook_endpoints (developer_app_id, status);

-- Old partitions are dropped whole: no clean-up ever deletes row by row.
CREATE TABLE webhook_events (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    -- The app whose key caused it; null when a person, a payer or a worker did.
    developer_app_id uuid,
    payload text NOT NULL,
    -- The order, customer or other thing that it is about.
    entity_id uuid,
    PRIMARY KEY (book_id, id)
) PARTITION BY RANGE (id);
-- The events about one thing.
CREATE INDEX webhook_events_by_entity ON webhook_events (entity_id);

-- An event on its way to an endpoint, and how far it came.
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
-- The deliveries of an event.
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id);
-- The deliveries of an app in one state.
CREATE INDEX webhook_deliveries_by_app ON webhook_deliveries (developer_app_id, status, id);
-- The deliveries of an app by type of event.
CREATE INDEX webhook_deliveries_by_app_and_type
    ON webhook_deliveries (developer_app_id, event_type, status, id);
-- The deliveries to an endpoint in one state.
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (webhook_endpoint_id, status, id);
-- The deliveries to an endpoint by type of event.
CREATE INDEX webhook_deliveries_by_endpoint_and_type
    ON webhook_deliveries (webhook_endpoint_id, event_type, status, id);

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
-- The deliveries to an endpoint whose time has come.
CREATE INDEX webhook_queue_by_lane ON webhook_queue (endpoint_id, due_at);

-- A week whose first rows are in the default partition stays there: it can't be made any more. What
-- is too old is deleted from there, some at a time.
CREATE FUNCTION turn_webhook_partitions(moment timestamptz, keep_days integer)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    parent text;
    child text;
    week date;
    least uuid;
    beyond uuid;
    has_begun boolean;
    dropped integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('webhook partitions', 0));
    FOREACH parent IN ARRAY ARRAY['webhook_events', 'webhook_deliveries'] LOOP
        FOR ahead IN 0..2 LOOP
            week := date_trunc('week', moment AT TIME ZONE 'UTC')::date + 7 * ahead;
            child := format('%s_%s', parent, to_char(week, 'YYYYMMDD'));
            CONTINUE WHEN to_regclass(child) IS NOT NULL;
            least := least_id(week::timestamp AT TIME ZONE 'UTC');
            beyond := least_id((week + 7)::timestamp AT TIME ZONE 'UTC');
            EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE id >= $1 AND id < $2)',
                parent || '_rest') INTO has_begun USING least, beyond;
            IF NOT has_begun THEN
                EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
                    child, parent, least, beyond);
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
        EXECUTE format('DELETE FROM %1$I WHERE ctid = ANY (ARRAY('
            'SELECT ctid FROM %1$I WHERE id < $1 LIMIT 10000))', parent || '_rest')
            USING least_id(moment - make_interval(days => keep_days));
    END LOOP;
    RETURN dropped;
END $$;

-- Events of a week that has no partition.
CREATE TABLE webhook_events_rest PARTITION OF webhook_events DEFAULT;

-- Deliveries of a week that has no partition.
CREATE TABLE webhook_deliveries_rest PARTITION OF webhook_deliveries DEFAULT;

SELECT turn_webhook_partitions(now(), 36500);
