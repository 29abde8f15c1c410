-- Since when the sessions of a member are those of new logins: one that was opened before, and acts
-- for another business, does not come back by a switch.
ALTER TABLE members ADD COLUMN sessions_ended_at timestamptz;
