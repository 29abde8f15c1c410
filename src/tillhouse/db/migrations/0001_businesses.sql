-- Who there is: people, businesses, their two books, memberships, sessions.

-- Every timestamp that leaves the system as text goes through this one function,
-- so that a column and a JSON array built by PostgreSQL look alike.
CREATE FUNCTION iso(moment timestamptz) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- One row: the random root from which every server secret is derived, wrapped by the master key.
CREATE TABLE installation (
    id smallint PRIMARY KEY DEFAULT 1 CONSTRAINT installation_is_one_row CHECK (id = 1),
    master_version integer NOT NULL,
    wrapped_root bytea NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE users (
    id uuid PRIMARY KEY,
    email text NOT NULL CONSTRAINT users_email_key UNIQUE,
    name text NOT NULL,
    password_hash text NOT NULL,
    created_at timestamptz(3) NOT NULL,
    password_changed_at timestamptz(3) NOT NULL
);

CREATE TABLE businesses (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    type text NOT NULL CONSTRAINT businesses_type_known
        CHECK (type IN ('retail', 'restaurant', 'hotel', 'school', 'services')),
    currency text NOT NULL CONSTRAINT businesses_currency_form CHECK (currency ~ '^[A-Z]{3}$'),
    time_zone text NOT NULL,
    country text NOT NULL CONSTRAINT businesses_country_form CHECK (country ~ '^[A-Z]{2}$'),
    -- The key that seals this business's recoverable secrets, itself wrapped by the master key.
    master_version integer NOT NULL,
    wrapped_data_key bytea NOT NULL,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL
);

-- A book is the isolation key: (book_id, id) leads every business table from here on.
CREATE TABLE books (
    id uuid PRIMARY KEY,
    business_id uuid NOT NULL REFERENCES businesses,
    environment text NOT NULL CONSTRAINT books_environment_known
        CHECK (environment IN ('test', 'live')),
    CONSTRAINT books_one_per_environment UNIQUE (business_id, environment)
);

CREATE TABLE subscriptions (
    business_id uuid PRIMARY KEY REFERENCES businesses,
    status text NOT NULL CONSTRAINT subscriptions_status_known
        CHECK (status IN ('trial', 'active', 'past_due', 'cancelled')),
    trial_ends_at timestamptz(3),
    api_access boolean NOT NULL,
    updated_at timestamptz(3) NOT NULL
);

CREATE TABLE members (
    business_id uuid NOT NULL REFERENCES businesses,
    user_id uuid NOT NULL REFERENCES users,
    role text NOT NULL CONSTRAINT members_role_known
        CHECK (role IN ('owner', 'admin', 'developer', 'manager', 'cashier', 'kitchen')),
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (business_id, user_id)
);
CREATE INDEX members_by_user ON members (user_id);

-- A session dies when it ends, expires, or its membership goes: the check joins all three.
CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users,
    business_id uuid NOT NULL,
    refresh_digest bytea NOT NULL CONSTRAINT sessions_refresh_digest_key UNIQUE,
    -- The token before the last refresh: its return after the grace time means theft.
    previous_refresh_digest bytea CONSTRAINT sessions_previous_refresh_digest_key UNIQUE,
    refreshed_at timestamptz(3) NOT NULL,
    password_verified_at timestamptz(3),
    created_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    ended_at timestamptz(3),
    ip_address text NOT NULL
);
CREATE INDEX sessions_by_user ON sessions (user_id);

-- Failed passwords per account and network; the account is a digest, known or not.
CREATE TABLE login_failures (
    account_digest bytea NOT NULL,
    network text NOT NULL,
    failures integer NOT NULL,
    last_failed_at timestamptz(3) NOT NULL,
    PRIMARY KEY (account_digest, network)
);
CREATE INDEX login_failures_by_age ON login_failures (last_failed_at);
