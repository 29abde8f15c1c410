-- A stay is given another guest: one who is known, as the guest of a booking is.

CREATE TRIGGER stays_of_other_guests_have_known_guests BEFORE UPDATE OF guest_id
    ON hotel_reservations
    FOR EACH ROW WHEN (OLD.guest_id IS DISTINCT FROM NEW.guest_id)
    EXECUTE FUNCTION check_guest_of_stay();
