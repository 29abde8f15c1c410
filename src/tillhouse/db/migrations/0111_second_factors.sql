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
