-- Attempts at passwords are counted once they are judged, and what follows from the counts
-- is a delay wherever somebody else could otherwise be locked out.

-- A generic cell rate per account, per network and for everybody: when it would be empty again.
-- The subject is a digest, so that it doesn't tell who tried.
CREATE TABLE attempt_cells (
    subject bytea PRIMARY KEY,
    full_at timestamptz(3) NOT NULL
);
CREATE INDEX attempt_cells_by_age ON attempt_cells (full_at);

-- From where a session was opened: the neighbourhood (/24, in IPv6 /64), as failures have it.
ALTER TABLE sessions ADD COLUMN network text;
UPDATE sessions SET network = CASE
    WHEN ip_address ~ '^[0-9.]+$' THEN network(set_masklen(ip_address::inet, 24))::text
    WHEN ip_address ~ '^[0-9a-f:.]+$' THEN network(set_masklen(ip_address::inet, 64))::text
    ELSE ip_address END;
ALTER TABLE sessions ALTER COLUMN network SET NOT NULL;

DROP INDEX sessions_by_user;
CREATE INDEX sessions_by_user_and_network ON sessions (user_id, network);
CREATE INDEX sessions_by_end ON sessions ((LEAST(ended_at, expires_at)));
