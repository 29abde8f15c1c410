-- A stay that was over is expected again only if its guest was not deleted meanwhile.
CREATE TRIGGER stays_again_have_known_guests BEFORE UPDATE OF status ON hotel_reservations
    FOR EACH ROW WHEN (OLD.status NOT IN ('booked', 'checked_in')
        AND NEW.status IN ('booked', 'checked_in'))
    EXECUTE FUNCTION check_guest_of_stay();
