-- What a closed period refuses is told with its day, and the day up to which the books are closed.

CREATE OR REPLACE FUNCTION refuse_closed_period() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz;
    days text;
BEGIN
    IF TG_TABLE_NAME = 'orders' THEN
        moment := NEW.occurred_at;
    ELSE
        moment := NEW.happened_at;
    END IF;
    IF is_closed(NEW.book_id, moment) THEN
        SELECT jsonb_build_object(
            'closed_until', ((k.closed_until AT TIME ZONE b.time_zone)::date - 1)::text,
            'day', ((moment AT TIME ZONE b.time_zone)::date)::text
        ) INTO days
        FROM books k JOIN businesses b ON b.id = k.business_id WHERE k.id = NEW.book_id;
        -- As if the table had the CONSTRAINT books_period_is_open, which no CHECK can say.
        RAISE EXCEPTION 'the period is closed' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'books_period_is_open', DETAIL = days;
    END IF;
    RETURN NEW;
END $$;

-- A sale of a closed period that was cancelled is still counted among its orders: it is not
-- deleted, and not scheduled. What never was sold, scheduled or cancelled as such, is free to be.
DROP TRIGGER orders_stay_in_closed_periods ON orders;
CREATE TRIGGER orders_stay_in_closed_periods
    BEFORE UPDATE OF status, total_amount, deleted_at ON orders
    FOR EACH ROW WHEN (OLD.status <> 'scheduled' AND
        CASE WHEN OLD.deleted_at IS NOT NULL THEN -2
            WHEN OLD.status IN ('pending', 'completed', 'refunded') THEN OLD.total_amount
            WHEN OLD.cancellation ->> 'previousStatus' = 'scheduled' THEN -2
            ELSE -1 END
        <> CASE WHEN NEW.deleted_at IS NOT NULL OR NEW.status = 'scheduled' THEN -2
            WHEN NEW.status IN ('pending', 'completed', 'refunded') THEN NEW.total_amount
            WHEN NEW.cancellation ->> 'previousStatus' = 'scheduled' THEN -2
            ELSE -1 END)
    EXECUTE FUNCTION refuse_closed_period();
