-- A customer or a guest who is expected, or in the house, isn't deleted, also where a booking and
-- the deletion come at once.

-- Guests of customers who were deleted go with them, unless somebody expects them.
UPDATE hotel_guests g SET deleted_at = c.deleted_at, updated_at = c.deleted_at
FROM customers c
WHERE c.book_id = g.book_id AND c.id = g.customer_id AND c.deleted_at IS NOT NULL
    AND g.deleted_at IS NULL
    AND NOT EXISTS (
        SELECT FROM hotel_reservations r
        WHERE r.book_id = g.book_id AND r.guest_id = g.id AND r.status IN ('booked', 'checked_in'));

CREATE FUNCTION delete_guest_of_customer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- The customer's row is locked by now: a booking that has it FOR SHARE is seen here.
    IF EXISTS (
        SELECT FROM hotel_guests g
        JOIN hotel_reservations r ON r.book_id = g.book_id AND r.guest_id = g.id
        WHERE g.book_id = NEW.book_id AND g.customer_id = NEW.id AND g.deleted_at IS NULL
            AND r.status IN ('booked', 'checked_in'))
    THEN
        -- As if the table had the CONSTRAINT customers_not_expected, which no CHECK can say.
        RAISE EXCEPTION 'the customer is the guest of a stay' USING
            ERRCODE = 'check_violation', CONSTRAINT = 'customers_not_expected';
    END IF;
    UPDATE hotel_guests SET deleted_at = NEW.deleted_at, updated_at = NEW.deleted_at
    WHERE book_id = NEW.book_id AND customer_id = NEW.id AND deleted_at IS NULL;
    RETURN NEW;
END $$;
CREATE TRIGGER expected_customers_stay BEFORE UPDATE OF deleted_at ON customers
    FOR EACH ROW WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL)
    EXECUTE FUNCTION delete_guest_of_customer();

CREATE FUNCTION check_guest_of_stay() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    customer uuid;
BEGIN
    SELECT g.customer_id INTO customer FROM hotel_guests g
    WHERE g.book_id = NEW.book_id AND g.id = NEW.guest_id AND g.deleted_at IS NULL
    FOR KEY SHARE;
    PERFORM FROM customers c
    WHERE c.book_id = NEW.book_id AND c.id = customer AND c.deleted_at IS NULL
    FOR SHARE;
    IF NOT FOUND THEN
        -- As if the table had the CONSTRAINT hotel_reservations_of_known_guest.
        RAISE EXCEPTION 'the guest was deleted' USING
            ERRCODE = 'check_violation', CONSTRAINT = 'hotel_reservations_of_known_guest';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER stays_have_known_guests BEFORE INSERT ON hotel_reservations
    FOR EACH ROW EXECUTE FUNCTION check_guest_of_stay();
