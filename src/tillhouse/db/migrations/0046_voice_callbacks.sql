-- The latest that a provider's callbacks told of an attempt, until its dispatcher reads it: the
-- body as it came, and its number, which only ever rises.
ALTER TABLE voice_attempts
    ADD COLUMN told bytea,
    ADD COLUMN told_number integer;
