-- The business that a session was opened in: when its person is removed from another one, to which
-- it was switched, it goes on where it came from. Sessions from before end, as they did.
ALTER TABLE sessions ADD COLUMN opened_business_id uuid;
