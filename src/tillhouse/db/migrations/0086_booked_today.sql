-- What is told of a closed period late is booked at the moment at which it is told.

CREATE FUNCTION booked_at(book uuid, moment timestamptz, told_at timestamptz)
    RETURNS timestamptz LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE WHEN is_closed(book, moment) THEN told_at ELSE moment END;
END $$;

-- Orders charged to a stay are refused as others are: nights are charged by the moment above.
DROP TRIGGER orders_keep_closed_periods ON orders;
CREATE TRIGGER orders_keep_closed_periods BEFORE INSERT ON orders
    FOR EACH ROW WHEN (NEW.entry_source = 'import')
    EXECUTE FUNCTION refuse_closed_period();
