-- A session of a browser is known by a cookie. Of the cookie only a keyed digest is kept, as of any
-- secret that is compared alone. `device` is a short name of the browser, for the list of sessions.
ALTER TABLE sessions ADD COLUMN cookie_digest bytea CONSTRAINT sessions_cookie_digest_key UNIQUE;
-- The one before it is good for a moment longer: for pages that are under way.
ALTER TABLE sessions ADD COLUMN previous_cookie_digest bytea
    CONSTRAINT sessions_previous_cookie_digest_key UNIQUE;
ALTER TABLE sessions ADD COLUMN cookie_renewed_at timestamptz;
ALTER TABLE sessions ADD COLUMN device text;
