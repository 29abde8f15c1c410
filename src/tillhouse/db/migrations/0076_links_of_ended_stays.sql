-- A payment link of a stay ends with it: of a cancelled one, a no-show, and at check-out.

CREATE FUNCTION close_links_of_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE payment_links SET updated_at = NEW.updated_at,
        status = CASE WHEN NEW.status = 'checked_out' AND asked_of_stay(NEW.book_id, NEW.id) = 0
            THEN 'PAID' ELSE 'CANCELLED' END
    WHERE book_id = NEW.book_id AND target_id = NEW.id AND target_type = 'reservation'
        AND status = 'active';
    RETURN NULL;
END $$;
CREATE TRIGGER payment_links_close_with_stays AFTER UPDATE OF status ON hotel_reservations
    FOR EACH ROW WHEN (OLD.status IN ('booked', 'checked_in')
        AND NEW.status IN ('cancelled', 'no_show', 'checked_out'))
    EXECUTE FUNCTION close_links_of_stay();

-- Links of stays that ended before; a stay that left a debt may have got its link after that.
UPDATE payment_links l SET status = 'CANCELLED', updated_at = now()
FROM hotel_reservations v
WHERE l.target_type = 'reservation' AND l.status = 'active' AND v.book_id = l.book_id
    AND v.id = l.target_id AND (v.status IN ('cancelled', 'no_show')
        OR v.status = 'checked_out' AND asked_of_stay(v.book_id, v.id) = 0);
