-- Books are closed up to a moment: what is dated before it changes no more. The row of the book is
-- shared by each change that is dated, so a closing waits for those under way, and they for it.

ALTER TABLE books ADD COLUMN closed_until timestamptz(3);

CREATE FUNCTION is_closed(book uuid, moment timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    ends timestamptz;
BEGIN
    -- Read with its lock, so that a closing that was waited for is seen.
    SELECT closed_until INTO ends FROM books WHERE id = book FOR SHARE;
    RETURN coalesce(moment < ends, false);
END $$;
CREATE FUNCTION refuse_closed_period() RETURNS trigger LANGUAGE plpgsql AS $$
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
            CONSTRAINT = 'books_period_is_open';
    END IF;
    RETURN NEW;
END $$;
-- A scheduled order whose day is closed meanwhile is sold when it is confirmed.
CREATE FUNCTION sell_when_confirmed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF is_closed(NEW.book_id, NEW.occurred_at) THEN
        NEW.occurred_at := NEW.updated_at;
    END IF;
    RETURN NEW;
END $$;

-- Charges of a stay are booked for the night that they are of, whenever that is caught up with.
CREATE TRIGGER orders_keep_closed_periods BEFORE INSERT ON orders
    FOR EACH ROW WHEN (NEW.entry_source = 'import' AND NEW.hotel_reservation_id IS NULL)
    EXECUTE FUNCTION refuse_closed_period();
CREATE TRIGGER orders_are_sold_when_confirmed BEFORE UPDATE OF status ON orders
    FOR EACH ROW WHEN (OLD.status = 'scheduled' AND NEW.status IN ('pending', 'completed'))
    EXECUTE FUNCTION sell_when_confirmed();
CREATE TRIGGER orders_stay_in_closed_periods
    BEFORE UPDATE OF status, total_amount, deleted_at ON orders
    FOR EACH ROW WHEN (OLD.status <> 'scheduled' AND (
        CASE WHEN OLD.deleted_at IS NULL AND OLD.status IN ('pending', 'completed', 'refunded')
            THEN OLD.total_amount ELSE -1 END
        <> CASE WHEN NEW.deleted_at IS NULL AND NEW.status IN ('pending', 'completed', 'refunded')
            THEN NEW.total_amount ELSE -1 END))
    EXECUTE FUNCTION refuse_closed_period();
-- Money that a provider tells of late is real: it is booked by its own moment.
CREATE TRIGGER payments_keep_closed_periods BEFORE INSERT ON payments
    FOR EACH ROW WHEN (NEW.happened_at < NEW.created_at AND NEW.receipt_id IS NULL)
    EXECUTE FUNCTION refuse_closed_period();
CREATE TRIGGER expenses_keep_closed_periods BEFORE INSERT ON expenses
    FOR EACH ROW WHEN (NEW.happened_at < NEW.created_at)
    EXECUTE FUNCTION refuse_closed_period();
CREATE TRIGGER expenses_stay_in_closed_periods BEFORE UPDATE OF voided_at ON expenses
    FOR EACH ROW WHEN (OLD.voided_at IS NULL AND NEW.voided_at IS NOT NULL)
    EXECUTE FUNCTION refuse_closed_period();
