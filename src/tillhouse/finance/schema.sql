-- Money that the business spends.
CREATE TABLE expenses (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    category text NOT NULL,
    description text,
    method transaction_method NOT NULL,
    store_id uuid,
    transaction_id uuid NOT NULL,
    transfer_id uuid NOT NULL,
    recorded_by_id uuid NOT NULL,
    recorded_by_name text NOT NULL,
    happened_at timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL,
    -- Taken back: its transfer is reversed.
    voided_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, store_id) REFERENCES stores (book_id, id),
    FOREIGN KEY (book_id, transaction_id) REFERENCES transactions (book_id, id),
    FOREIGN KEY (book_id, transfer_id) REFERENCES ledger_transfers (book_id, id)
);
-- The expense behind a transaction.
CREATE INDEX expenses_by_transaction ON expenses (book_id, transaction_id);
-- The list of expenses, and their sums by day.
CREATE INDEX expenses_by_time ON expenses (book_id, happened_at, id) WHERE voided_at IS NULL;
-- The expenses of a store.
CREATE INDEX expenses_by_store ON expenses (book_id, store_id, happened_at, id)
    WHERE voided_at IS NULL;

-- What a closed period refuses is told with its day, and the day up to which the books are closed.
CREATE FUNCTION refuse_closed_period() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER orders_keep_closed_periods BEFORE INSERT ON orders
    FOR EACH ROW WHEN (NEW.entry_source = 'import')
    EXECUTE FUNCTION refuse_closed_period();
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
