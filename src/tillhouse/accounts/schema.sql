-- People, each known by an email address.
CREATE TABLE users (
    id uuid PRIMARY KEY,
    email text NOT NULL CONSTRAINT users_email_key UNIQUE,
    name text NOT NULL,
    password_hash text NOT NULL,
    created_at timestamptz(3) NOT NULL,
    password_changed_at timestamptz(3) NOT NULL
);

-- A business: its name, how it trades, and the key that seals its secrets.
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
    updated_at timestamptz(3) NOT NULL,
    -- How a business trades, where that is not the same for all.
    tax_inclusive boolean NOT NULL DEFAULT false,
    stock_policy text NOT NULL DEFAULT 'deny'
        CONSTRAINT businesses_stock_policy_known CHECK (stock_policy IN ('deny', 'allow')),
    restocks_cancelled boolean NOT NULL DEFAULT true,
    -- The particulars of a business that stand on its receipts and bills.
    legal_name text,
    address jsonb,
    tax_numbers jsonb NOT NULL DEFAULT '[]',
    receipt_footer text,
    -- Roles of a business whose members need a second factor: without one, a session of theirs
    -- turns it on and does nothing else.
    second_factor_roles text[] NOT NULL DEFAULT '{}'
    CONSTRAINT businesses_second_factor_roles_known CHECK (second_factor_roles <@ ARRAY[
        'owner', 'admin', 'developer', 'manager', 'cashier', 'kitchen', 'front_desk', 'housekeeping'
    ])
);

-- A book is the isolation key: (book_id, id) leads every business table from here on.
CREATE TABLE books (
    id uuid PRIMARY KEY,
    business_id uuid NOT NULL REFERENCES businesses,
    environment text NOT NULL CONSTRAINT books_environment_known
        CHECK (environment IN ('test', 'live')),
    -- Books are closed up to a moment: what is dated before it changes no more. The row of the
    -- book is shared by each change that is dated, so a closing waits for those under way, and
    -- they for it.
    closed_until timestamptz(3),
    CONSTRAINT books_one_per_environment UNIQUE (business_id, environment)
);

-- The plan of a business, and whether its keys may call the API.
CREATE TABLE subscriptions (
    business_id uuid PRIMARY KEY REFERENCES businesses,
    status text NOT NULL CONSTRAINT subscriptions_status_known
        CHECK (status IN ('trial', 'active', 'past_due', 'cancelled')),
    trial_ends_at timestamptz(3),
    api_access boolean NOT NULL,
    updated_at timestamptz(3) NOT NULL
);

-- People of a business with their role.
CREATE TABLE members (
    business_id uuid NOT NULL REFERENCES businesses,
    user_id uuid NOT NULL REFERENCES users,
    role text NOT NULL,
    created_at timestamptz(3) NOT NULL,
    -- Since when the sessions of a member are those of new logins: one that was opened before, and
    -- acts for another business, does not come back by a switch.
    sessions_ended_at timestamptz,
    PRIMARY KEY (business_id, user_id),
    CONSTRAINT members_role_known CHECK (role IN (
        'owner', 'admin', 'developer', 'manager', 'cashier', 'kitchen', 'front_desk',
        'housekeeping'))
);
-- The businesses of a person.
CREATE INDEX members_by_user ON members (user_id);

-- People who were asked to join a business; one invitation of each address, the newest.
CREATE TABLE invitations (
    business_id uuid NOT NULL REFERENCES businesses,
    -- The token that is mailed is made of it, so a new invitation ends the one before.
    id uuid NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    invited_by uuid NOT NULL REFERENCES users,
    created_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    PRIMARY KEY (business_id, id),
    CONSTRAINT invitations_of_an_address UNIQUE (business_id, email)
);
-- Invitations that expired are swept.
CREATE INDEX invitations_by_end ON invitations (expires_at);

-- The second factor of a person: a secret that an application makes codes of, and codes for the day
-- on which it is lost.
CREATE TABLE second_factors (
    user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    -- Sealed for this person: it opens in no other row.
    sealed_secret bytea NOT NULL,
    begun_at timestamptz(3) NOT NULL,
    -- NULL as long as no code of the secret was given: logging in doesn't ask for one yet.
    confirmed_at timestamptz(3),
    -- The step of 30 seconds whose code was taken last: each code counts once.
    last_step bigint NOT NULL DEFAULT 0,
    recovery_digests bytea[] NOT NULL DEFAULT '{}'
);

-- Links that set another password for a person who forgot the one before; one of each person, the
-- newest.
CREATE TABLE password_links (
    user_id uuid PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    -- Of the token under the pepper; the token itself is in the mail alone.
    token_digest bytea NOT NULL,
    requested_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3) NOT NULL,
    -- The password that the link is to replace: where it was changed since, the link is void.
    password_changed_at timestamptz(3) NOT NULL,
    -- A used link stays until its end, so that a mail that is sent again doesn't make it anew.
    used_at timestamptz(3),
    CONSTRAINT password_links_of_a_token UNIQUE (token_digest)
);
-- Links that expired are swept.
CREATE INDEX password_links_by_end ON password_links (expires_at);
