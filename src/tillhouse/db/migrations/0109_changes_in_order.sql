-- The moment of a row's change: later than its last one, whichever request began first.
CREATE FUNCTION changed_at(before timestamptz, asked timestamptz) RETURNS timestamptz
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN greatest(before + interval '1 millisecond', asked, clock_timestamp());
