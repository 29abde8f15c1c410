-- Calls by kind over all time, by month and by day: a list's total is the sum of few rows, however
-- long the time that it covers. Calls that wait are tallied as well, since a campaign queues a
-- hundred thousand at once; those under way are as many as there are slots.
DROP TRIGGER voice_calls_are_tallied ON voice_calls;
DROP TRIGGER voice_calls_are_tallied_at_their_end ON voice_calls;
DROP FUNCTION tally_voice_call();
DROP TABLE voice_call_tallies;

CREATE TABLE voice_call_tallies (
    book_id uuid NOT NULL,
    period text NOT NULL,
    -- The first day of the period, in UTC.
    day date NOT NULL,
    status text NOT NULL,
    number_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    ended_reason text NOT NULL,
    -- Of calls that wait a slot per connection, so that two that are placed seldom wait for each
    -- other; calls end one by one.
    slot integer NOT NULL,
    calls bigint NOT NULL,
    PRIMARY KEY (book_id, period, day, status, number_id, agent_id, ended_reason, slot)
) WITH (fillfactor = 50);

CREATE FUNCTION add_voice_call(counted voice_calls, times integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    made_on date := (counted.created_at AT TIME ZONE 'UTC')::date;
BEGIN
    -- Always in this order, so that two can't wait for each other.
    INSERT INTO voice_call_tallies AS t (book_id, period, day, status, number_id, agent_id,
        ended_reason, slot, calls)
    SELECT counted.book_id, p.period, p.day, counted.status, counted.number_id,
        counted.agent_id, coalesce(counted.ended_reason, ''),
        CASE counted.status WHEN 'queued' THEN pg_backend_pid() % 4 ELSE 0 END, times
    FROM (VALUES ('ever', date '0001-01-01'), ('month', date_trunc('month', made_on)::date),
        ('day', made_on)) p (period, day)
    ON CONFLICT (book_id, period, day, status, number_id, agent_id, ended_reason, slot)
        DO UPDATE SET calls = t.calls + excluded.calls;
END $$;

CREATE FUNCTION tally_voice_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.status = 'queued' THEN
        PERFORM add_voice_call(OLD, -1);
    END IF;
    IF NEW.status = 'queued' OR NEW.ended_at IS NOT NULL THEN
        PERFORM add_voice_call(NEW, 1);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER voice_calls_are_tallied AFTER INSERT ON voice_calls
    FOR EACH ROW EXECUTE FUNCTION tally_voice_call();
CREATE TRIGGER voice_calls_are_tallied_again AFTER UPDATE ON voice_calls
    FOR EACH ROW WHEN ((OLD.status = 'queued') <> (NEW.status = 'queued')
        OR (OLD.ended_at IS NULL) <> (NEW.ended_at IS NULL))
    EXECUTE FUNCTION tally_voice_call();

INSERT INTO voice_call_tallies (book_id, period, day, status, number_id, agent_id, ended_reason,
    slot, calls)
SELECT c.book_id, p.period, p.day, c.status, c.number_id, c.agent_id,
    coalesce(c.ended_reason, ''), 0, count(*)
FROM voice_calls c
CROSS JOIN LATERAL (VALUES ('ever', date '0001-01-01'),
    ('month', date_trunc('month', c.created_at AT TIME ZONE 'UTC')::date),
    ('day', (c.created_at AT TIME ZONE 'UTC')::date)) p (period, day)
WHERE c.status = 'queued' OR c.ended_at IS NOT NULL
GROUP BY 1, 2, 3, 4, 5, 6, 7;

-- Nothing counts the calls that are not over any more.
DROP INDEX voice_calls_open;
