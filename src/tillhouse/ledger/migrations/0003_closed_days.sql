-- Since 0.1.0: the days that a refusal of a closed period tells, for the trigger that decides and
-- for a preview of a sale.

-- The last closed day and the day of the moment, as JSON; null where the books are open then.
CREATE FUNCTION closed_days(book uuid, moment timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'closed_until', ((k.closed_until AT TIME ZONE b.time_zone)::date - 1)::text,
        'day', ((moment AT TIME ZONE b.time_zone)::date)::text)::text
    FROM books k JOIN businesses b ON b.id = k.business_id
    WHERE k.id = book AND k.closed_until > moment
$$;

-- What a closed period refuses is told with its day, and the day up to which the books are closed.
CREATE OR REPLACE FUNCTION refuse_closed_period() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz;
BEGIN
    IF TG_TABLE_NAME = 'orders' THEN
        moment := NEW.occurred_at;
    ELSE
        moment := NEW.happened_at;
    END IF;
    IF is_closed(NEW.book_id, moment) THEN
        -- As if the table had the CONSTRAINT books_period_is_open, which no CHECK can say.
        RAISE EXCEPTION 'the period is closed' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'books_period_is_open', DETAIL = closed_days(NEW.book_id, moment);
    END IF;
    RETURN NEW;
END $$;
