-- Written by `make docs`; change a migration instead.

CREATE OR REPLACE FUNCTION public.audit_hash(previous bytea, event audit_events)
 RETURNS bytea
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN sha256((previous || convert_to((jsonb_build_array((event).business_id, (event).sequence, (event).id, (event).developer_api_key_id, (event).actor_user_id, (event).actor_name, (event).event_type, (event).title, (event).ip_address, (event).metadata, iso((event).created_at)))::text, 'UTF8'::name)));

CREATE OR REPLACE FUNCTION public.iso(moment timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN to_char((moment AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'::text);

CREATE OR REPLACE FUNCTION public.least_id(moment timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (encode((SUBSTRING(int8send(((EXTRACT(epoch FROM moment) * (1000)::numeric))::bigint) FROM 3) || '\x70008000000000000000'::bytea), 'hex'::text))::uuid;

CREATE OR REPLACE FUNCTION public.made_at(id uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN to_timestamp((((((('x'::text || lpad(replace("left"((id)::text, 13), '-'::text, ''::text), 16, '0'::text)))::bit(64))::bigint)::numeric / 1000.0))::double precision);

CREATE OR REPLACE FUNCTION public.new_id(moment timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 PARALLEL SAFE
RETURN (encode(set_bit(set_bit(OVERLAY(uuid_send(gen_random_uuid()) PLACING SUBSTRING(int8send(((EXTRACT(epoch FROM moment) * (1000)::numeric))::bigint) FROM 3) FROM 1 FOR 6), (52)::bigint, 1), (53)::bigint, 1), 'hex'::text))::uuid;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END $function$;

CREATE OR REPLACE FUNCTION public.turn_webhook_partitions(moment timestamp with time zone, keep_days integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE TABLE api_key_uses (
    book_id uuid NOT NULL,
    key_id uuid NOT NULL,
    last_used_at timestamp(3) with time zone NOT NULL,
    last_used_ip text NOT NULL,
    CONSTRAINT api_key_uses_pkey PRIMARY KEY (book_id, key_id),
    CONSTRAINT api_key_uses_book_id_key_id_fkey FOREIGN KEY (book_id, key_id) REFERENCES api_keys(book_id, id) ON DELETE CASCADE
);

CREATE TABLE api_keys (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    developer_app_id uuid NOT NULL,
    name text NOT NULL,
    public_key text NOT NULL,
    secret_prefix text NOT NULL,
    secret_digest bytea NOT NULL,
    secret_sealed bytea NOT NULL,
    scopes text[] NOT NULL,
    allowed_origins text[] NOT NULL,
    allowed_ip_ranges text[] NOT NULL,
    withdrawal_policy jsonb,
    expires_at timestamp(3) with time zone,
    revoked_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT api_keys_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT api_keys_secret_digest_key UNIQUE (secret_digest),
    CONSTRAINT api_keys_have_a_scope CHECK (cardinality(scopes) > 0),
    CONSTRAINT api_keys_book_id_developer_app_id_fkey FOREIGN KEY (book_id, developer_app_id) REFERENCES developer_apps(book_id, id),
    CONSTRAINT api_keys_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX api_keys_by_app ON api_keys USING btree (book_id, developer_app_id, id);

CREATE TABLE audit_events (
    business_id uuid NOT NULL,
    sequence bigint NOT NULL,
    id uuid NOT NULL,
    developer_api_key_id uuid,
    actor_user_id uuid,
    actor_name text NOT NULL,
    event_type text NOT NULL,
    title text NOT NULL,
    ip_address text NOT NULL,
    metadata jsonb NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT audit_events_pkey PRIMARY KEY (business_id, sequence),
    CONSTRAINT audit_events_business_id_fkey FOREIGN KEY (business_id) REFERENCES businesses(id)
);
CREATE INDEX audit_events_by_key ON audit_events USING btree (business_id, developer_api_key_id, created_at, id);
CREATE INDEX audit_events_by_time ON audit_events USING btree (business_id, created_at, id);
CREATE INDEX audit_events_by_type ON audit_events USING btree (business_id, event_type, created_at, id);
CREATE TRIGGER audit_events_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE audit_heads (
    business_id uuid NOT NULL,
    sequence bigint NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT audit_heads_pkey PRIMARY KEY (business_id),
    CONSTRAINT audit_heads_business_id_fkey FOREIGN KEY (business_id) REFERENCES businesses(id)
);

CREATE TABLE books (
    id uuid NOT NULL,
    business_id uuid NOT NULL,
    environment text NOT NULL,
    CONSTRAINT books_pkey PRIMARY KEY (id),
    CONSTRAINT books_one_per_environment UNIQUE (business_id, environment),
    CONSTRAINT books_environment_known CHECK (environment = ANY (ARRAY['test'::text, 'live'::text])),
    CONSTRAINT books_business_id_fkey FOREIGN KEY (business_id) REFERENCES businesses(id)
);

CREATE TABLE businesses (
    id uuid NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    currency text NOT NULL,
    time_zone text NOT NULL,
    country text NOT NULL,
    master_version integer NOT NULL,
    wrapped_data_key bytea NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT businesses_pkey PRIMARY KEY (id),
    CONSTRAINT businesses_country_form CHECK (country ~ '^[A-Z]{2}$'::text),
    CONSTRAINT businesses_currency_form CHECK (currency ~ '^[A-Z]{3}$'::text),
    CONSTRAINT businesses_type_known CHECK (type = ANY (ARRAY['retail'::text, 'restaurant'::text, 'hotel'::text, 'school'::text, 'services'::text]))
);

CREATE TABLE developer_apps (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    status text NOT NULL DEFAULT 'active'::text,
    is_default boolean NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT developer_apps_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT developer_apps_status_known CHECK (status = 'active'::text),
    CONSTRAINT developer_apps_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE UNIQUE INDEX developer_apps_one_default ON developer_apps USING btree (book_id) WHERE is_default;

CREATE TABLE idempotency_keys (
    book_id uuid NOT NULL,
    surface text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    answer bytea,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (book_id, surface, key),
    CONSTRAINT idempotency_keys_surface_known CHECK (surface = ANY (ARRAY['v1'::text, 'portal'::text])),
    CONSTRAINT idempotency_keys_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys USING btree (created_at);

CREATE TABLE installation (
    id smallint NOT NULL DEFAULT 1,
    master_version integer NOT NULL,
    wrapped_root bytea NOT NULL,
    created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
    CONSTRAINT installation_pkey PRIMARY KEY (id),
    CONSTRAINT installation_is_one_row CHECK (id = 1)
);

CREATE TABLE login_failures (
    account_digest bytea NOT NULL,
    network text NOT NULL,
    failures integer NOT NULL,
    last_failed_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT login_failures_pkey PRIMARY KEY (account_digest, network)
);
CREATE INDEX login_failures_by_age ON login_failures USING btree (last_failed_at);

CREATE TABLE members (
    business_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT members_pkey PRIMARY KEY (business_id, user_id),
    CONSTRAINT members_role_known CHECK (role = ANY (ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'manager'::text, 'cashier'::text, 'kitchen'::text])),
    CONSTRAINT members_business_id_fkey FOREIGN KEY (business_id) REFERENCES businesses(id),
    CONSTRAINT members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX members_by_user ON members USING btree (user_id);

CREATE UNLOGGED TABLE rate_cells (
    book_id uuid NOT NULL,
    key_id uuid NOT NULL,
    full_at double precision NOT NULL,
    granted integer NOT NULL,
    CONSTRAINT rate_cells_pkey PRIMARY KEY (book_id, key_id)
) WITH (fillfactor=20);

CREATE TABLE schema_migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT schema_migrations_pkey PRIMARY KEY (number)
);

CREATE TABLE sessions (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    business_id uuid NOT NULL,
    refresh_digest bytea NOT NULL,
    previous_refresh_digest bytea,
    refreshed_at timestamp(3) with time zone NOT NULL,
    password_verified_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    ended_at timestamp(3) with time zone,
    ip_address text NOT NULL,
    CONSTRAINT sessions_pkey PRIMARY KEY (id),
    CONSTRAINT sessions_previous_refresh_digest_key UNIQUE (previous_refresh_digest),
    CONSTRAINT sessions_refresh_digest_key UNIQUE (refresh_digest),
    CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX sessions_by_user ON sessions USING btree (user_id);

CREATE TABLE subscriptions (
    business_id uuid NOT NULL,
    status text NOT NULL,
    trial_ends_at timestamp(3) with time zone,
    api_access boolean NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT subscriptions_pkey PRIMARY KEY (business_id),
    CONSTRAINT subscriptions_status_known CHECK (status = ANY (ARRAY['trial'::text, 'active'::text, 'past_due'::text, 'cancelled'::text])),
    CONSTRAINT subscriptions_business_id_fkey FOREIGN KEY (business_id) REFERENCES businesses(id)
);

CREATE TABLE usage_records (
    book_id uuid NOT NULL,
    day date NOT NULL,
    developer_app_id uuid NOT NULL,
    method text NOT NULL,
    endpoint text NOT NULL,
    status_family text NOT NULL,
    request_count bigint NOT NULL,
    error_count bigint NOT NULL,
    total_latency_ms bigint NOT NULL,
    CONSTRAINT usage_records_pkey PRIMARY KEY (book_id, day, developer_app_id, method, endpoint, status_family),
    CONSTRAINT usage_records_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);

CREATE TABLE users (
    id uuid NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    password_hash text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    password_changed_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT users_pkey PRIMARY KEY (id),
    CONSTRAINT users_email_key UNIQUE (email)
);

CREATE TABLE webhook_deliveries (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    developer_app_id uuid NOT NULL,
    webhook_endpoint_id uuid NOT NULL,
    event_id uuid NOT NULL,
    event_type text NOT NULL,
    status text NOT NULL,
    url text NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    response_status integer,
    latency_ms integer,
    error_message text,
    attempts_log jsonb NOT NULL DEFAULT '[]'::jsonb,
    next_attempt_at timestamp(3) with time zone,
    delivered_at timestamp(3) with time zone,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT webhook_deliveries_status_known CHECK (status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))
) PARTITION BY RANGE (id);
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries USING btree (webhook_endpoint_id, id);
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries USING btree (event_id);
CREATE INDEX webhook_deliveries_by_type ON webhook_deliveries USING btree (event_type, book_id, id);
CREATE INDEX webhook_deliveries_undelivered ON webhook_deliveries USING btree (status, book_id, id) WHERE status <> 'delivered'::text;

CREATE TABLE webhook_endpoints (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    developer_app_id uuid NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    status text NOT NULL,
    last_delivery_status text,
    failure_count integer NOT NULL DEFAULT 0,
    last_delivered_at timestamp(3) with time zone,
    disabled_at timestamp(3) with time zone,
    probe_until timestamp with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT webhook_endpoints_have_an_event CHECK (cardinality(events) > 0),
    CONSTRAINT webhook_endpoints_status_known CHECK (status = ANY (ARRAY['active'::text, 'disabled'::text])),
    CONSTRAINT webhook_endpoints_book_id_developer_app_id_fkey FOREIGN KEY (book_id, developer_app_id) REFERENCES webhook_secrets(book_id, developer_app_id)
) WITH (fillfactor=50);
CREATE INDEX webhook_endpoints_by_app ON webhook_endpoints USING btree (developer_app_id, status);

CREATE TABLE webhook_events (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    developer_app_id uuid,
    payload text NOT NULL,
    CONSTRAINT webhook_events_pkey PRIMARY KEY (book_id, id)
) PARTITION BY RANGE (id);

CREATE TABLE webhook_queue (
    book_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    event_id uuid NOT NULL,
    attempt integer NOT NULL DEFAULT 1,
    due_at timestamp with time zone NOT NULL,
    is_claimed boolean NOT NULL DEFAULT false,
    generation integer NOT NULL DEFAULT 0,
    CONSTRAINT webhook_queue_pkey PRIMARY KEY (book_id, delivery_id)
) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500);
CREATE INDEX webhook_queue_by_lane ON webhook_queue USING btree (endpoint_id, due_at);

CREATE TABLE webhook_secrets (
    book_id uuid NOT NULL,
    developer_app_id uuid NOT NULL,
    secret_prefix text NOT NULL,
    secret_sealed bytea NOT NULL,
    rotated_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT webhook_secrets_pkey PRIMARY KEY (book_id, developer_app_id),
    CONSTRAINT webhook_secrets_book_id_developer_app_id_fkey FOREIGN KEY (book_id, developer_app_id) REFERENCES developer_apps(book_id, id)
);
