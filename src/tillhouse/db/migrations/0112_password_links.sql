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
CREATE INDEX password_links_by_end ON password_links (expires_at);
