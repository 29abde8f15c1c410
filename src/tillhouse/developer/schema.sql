-- Programs of a business; each has API keys and webhooks of its own.
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
-- A book has one app that keys without a named one belong to.
CREATE UNIQUE INDEX developer_apps_one_default ON developer_apps (book_id) WHERE is_default;

-- Keys of programs: of the secret only a digest is kept.
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
    -- The person who made a key, or gave it its present secret; null: not known.
    made_by uuid,
    -- When the audit log was told that a key may do what its maker may not let a key do.
    noted_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, developer_app_id) REFERENCES developer_apps (book_id, id)
);
-- The keys of an app.
CREATE INDEX api_keys_by_app ON api_keys (book_id, developer_app_id, id);
-- The keys that a person made: they are revoked with the person.
CREATE INDEX api_keys_by_maker ON api_keys (book_id, made_by, id) WHERE made_by IS NOT NULL;
-- Whether any key holds a scope.
CREATE INDEX api_keys_by_scope ON api_keys USING gin (scopes);
