-- The ids that an entry of the audit log names, wherever they stand in its facts.
CREATE FUNCTION audit_entities(metadata jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(DISTINCT lower(v.value #>> '{}')), '{}')
    FROM jsonb_path_query(metadata, '$.** ? (@.type() == "string")') AS v (value)
    WHERE v.value #>> '{}' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
$$;

-- One row: the random root from which every server secret is derived, wrapped by the master key.
CREATE TABLE installation (
    id smallint PRIMARY KEY DEFAULT 1 CONSTRAINT installation_is_one_row CHECK (id = 1),
    master_version integer NOT NULL,
    wrapped_root bytea NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now()
);

-- A session dies when it ends, expires, or its membership goes: the check joins all three.
CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users,
    business_id uuid NOT NULL,
    refresh_digest bytea CONSTRAINT sessions_refresh_digest_key UNIQUE,
    -- The token before the last refresh: its return after the grace time means theft.
    previous_refresh_digest bytea CONSTRAINT sessions_previous_refresh_digest_key UNIQUE,
    refreshed_at timestamptz(3) NOT NULL,
    password_verified_at timestamptz(3),
    created_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    ended_at timestamptz(3),
    ip_address text NOT NULL,
    -- From where a session was opened: the neighbourhood (/24, in IPv6 /64), as failures have it.
    network text NOT NULL,
    -- Which of its tokens is the latest: one of an earlier generation was used already.
    refresh_generation integer NOT NULL DEFAULT 0,
    -- The business that a session was opened in: when its person is removed from another one, to
    -- which it was switched, it goes on where it came from. Null: it ends.
    opened_business_id uuid,
    -- A session of a browser is known by a cookie. Of the cookie only a keyed digest is kept, as
    -- of any secret that is compared alone. `device` is a short name of the browser, for the list
    -- of sessions.
    cookie_digest bytea CONSTRAINT sessions_cookie_digest_key UNIQUE,
    -- The one before it is good for a moment longer: for pages that are under way.
    previous_cookie_digest bytea
    CONSTRAINT sessions_previous_cookie_digest_key UNIQUE,
    cookie_renewed_at timestamptz,
    device text
);
-- The sessions of a person, and whether one was opened from a network before.
CREATE INDEX sessions_by_user_and_network ON sessions (user_id, network);
-- Sessions that are over are swept.
CREATE INDEX sessions_by_end ON sessions ((LEAST(ended_at, expires_at)));

-- Failed passwords per account and network; the account is a digest, known or not.
CREATE TABLE login_failures (
    account_digest bytea NOT NULL,
    network text NOT NULL,
    failures integer NOT NULL,
    last_failed_at timestamptz(3) NOT NULL,
    PRIMARY KEY (account_digest, network)
);
-- Failures that count no more are swept.
CREATE INDEX login_failures_by_age ON login_failures (last_failed_at);

-- Kept apart from api_keys so that the busiest write never touches the row that guards a request.
CREATE TABLE api_key_uses (
    book_id uuid NOT NULL,
    key_id uuid NOT NULL,
    last_used_at timestamptz(3) NOT NULL,
    last_used_ip text NOT NULL,
    PRIMARY KEY (book_id, key_id),
    FOREIGN KEY (book_id, key_id) REFERENCES api_keys (book_id, id) ON DELETE CASCADE
);

-- Generic cell rate: the moment (epoch seconds) at which the key's bucket is full again.
-- Unlogged: after a crash every key merely starts with a full bucket.
CREATE UNLOGGED TABLE rate_cells (
    book_id uuid NOT NULL,
    key_id uuid NOT NULL,
    full_at double precision NOT NULL,
    -- How many requests the last statement was granted: what its RETURNING tells.
    granted integer NOT NULL,
    PRIMARY KEY (book_id, key_id)
) WITH (fillfactor = 20);

-- Requests by day, app, operation and outcome: what usage is told of and billed by.
CREATE TABLE usage_records (
    book_id uuid NOT NULL REFERENCES books,
    day date NOT NULL,
    developer_app_id uuid NOT NULL,
    method text NOT NULL,
    endpoint text NOT NULL,
    status_family text NOT NULL,
    request_count bigint NOT NULL,
    error_count bigint NOT NULL,
    total_latency_ms bigint NOT NULL,
    PRIMARY KEY (book_id, day, developer_app_id, method, endpoint, status_family)
);
-- Rows of days that are too old to be told of are swept.
CREATE INDEX usage_records_by_day ON usage_records (day);

-- The audit log: one hash chain per business, append-only for everybody.
CREATE TABLE audit_events (
    business_id uuid NOT NULL REFERENCES businesses,
    sequence bigint NOT NULL,
    id uuid NOT NULL,
    developer_api_key_id uuid,
    actor_user_id uuid,
    actor_name text NOT NULL,
    event_type text NOT NULL,
    title text NOT NULL,
    ip_address text NOT NULL,
    metadata jsonb NOT NULL,
    created_at timestamptz(3) NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (business_id, sequence)
);
-- The log of a business, the latest first.
CREATE INDEX audit_events_by_time ON audit_events (business_id, created_at, id);
-- The log by type of event.
CREATE INDEX audit_events_by_type ON audit_events (business_id, event_type, created_at, id);
-- The log by the API key that acted.
CREATE INDEX audit_events_by_key
    ON audit_events (business_id, developer_api_key_id, created_at, id);
-- The log by the thing that an entry names in its metadata.
CREATE INDEX audit_events_by_entity ON audit_events USING gin (audit_entities(metadata));

-- The last link of each chain; its row lock puts the writers of one business in line.
CREATE TABLE audit_heads (
    business_id uuid PRIMARY KEY REFERENCES businesses,
    sequence bigint NOT NULL,
    hash bytea NOT NULL
);

-- A generic cell rate per account, per network and for everybody: when it would be empty again.
-- The subject is a digest, so that it doesn't tell who tried.
CREATE TABLE attempt_cells (
    subject bytea PRIMARY KEY,
    full_at timestamptz(3) NOT NULL
);
-- Cells that are empty again are swept.
CREATE INDEX attempt_cells_by_age ON attempt_cells (full_at);

-- Every timestamp that leaves the system as text goes through this one function,
-- so that a column and a JSON array built by PostgreSQL look alike.
CREATE FUNCTION iso(moment timestamptz) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- What a link vouches for: every column and the link before it. A JSON array keeps the
-- values apart, so that no two different rows hash the same text.
CREATE FUNCTION audit_hash(previous bytea, event audit_events) RETURNS bytea
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN sha256(previous || convert_to(jsonb_build_array(
        event.business_id, event.sequence, event.id, event.developer_api_key_id,
        event.actor_user_id, event.actor_name, event.event_type, event.title,
        event.ip_address, event.metadata, iso(event.created_at))::text, 'UTF8'));

-- The audit log is append-only, for the owner of the tables, too.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_events_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
