-- Apps, API keys, what they did, and what was done to them.

CREATE TABLE developer_apps (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    name text NOT NULL,
    status text NOT NULL DEFAULT 'active'
        CONSTRAINT developer_apps_status_known CHECK (status IN ('active')),
    is_default boolean NOT NULL,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id)
);
CREATE UNIQUE INDEX developer_apps_one_default ON developer_apps (book_id) WHERE is_default;

CREATE TABLE api_keys (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    developer_app_id uuid NOT NULL,
    name text NOT NULL,
    public_key text NOT NULL,
    secret_prefix text NOT NULL,
    -- Looked up by digest; shown again (view-secret) from the sealed copy.
    secret_digest bytea NOT NULL CONSTRAINT api_keys_secret_digest_key UNIQUE,
    secret_sealed bytea NOT NULL,
    scopes text[] NOT NULL CONSTRAINT api_keys_have_a_scope CHECK (cardinality(scopes) > 0),
    allowed_origins text[] NOT NULL,
    allowed_ip_ranges text[] NOT NULL,
    withdrawal_policy jsonb,
    expires_at timestamptz(3),
    revoked_at timestamptz(3),
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, developer_app_id) REFERENCES developer_apps (book_id, id)
);
CREATE INDEX api_keys_by_app ON api_keys (book_id, developer_app_id, id);

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

-- The first answer to a key, kept with the effect that it answers: both or neither.
CREATE TABLE idempotency_keys (
    book_id uuid NOT NULL REFERENCES books,
    surface text NOT NULL CONSTRAINT idempotency_keys_surface_known
        CHECK (surface IN ('v1', 'portal')),
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    answer bytea,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, surface, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
