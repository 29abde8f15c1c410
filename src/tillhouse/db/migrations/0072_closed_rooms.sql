-- No stay that is to come, or in the house, is in a room that was closed or deleted.

-- Bookings whose room was closed before get another free one of the type, where there is one.
DO $$
DECLARE
    stay record;
    other uuid;
BEGIN
    FOR stay IN
        SELECT v.* FROM hotel_rooms c
        JOIN hotel_reservations v ON v.book_id = c.book_id AND v.room_id = c.id
            AND v.status = 'booked' AND v.check_out_on >= current_date
        WHERE c.status = 'out_of_service' AND c.deleted_at IS NULL
        ORDER BY v.book_id, v.check_in_on, v.id
    LOOP
        SELECT r.id INTO other FROM hotel_rooms r
        WHERE r.book_id = stay.book_id AND r.room_type_id = stay.room_type_id
            AND r.deleted_at IS NULL AND r.status <> 'out_of_service'
            AND NOT EXISTS (
                SELECT FROM hotel_reservations o
                WHERE o.book_id = r.book_id AND o.room_id = r.id
                    AND o.status IN ('booked', 'checked_in')
                    AND o.check_in_on < stay.check_out_on AND o.check_out_on > stay.check_in_on)
        ORDER BY length(r.number), lower(r.number), r.id LIMIT 1;
        UPDATE hotel_reservations SET room_id = other, updated_at = now()
        WHERE book_id = stay.book_id AND id = stay.id AND other IS NOT NULL;
    END LOOP;
END $$;

CREATE FUNCTION check_room_is_empty() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- The room's row is locked by now: a stay that has it FOR SHARE is seen here.
    IF EXISTS (
        SELECT FROM hotel_reservations v
        WHERE v.book_id = NEW.book_id AND v.room_id = NEW.id
            AND v.status IN ('booked', 'checked_in'))
    THEN
        -- As if the table had the CONSTRAINT hotel_rooms_empty, which no CHECK can say.
        RAISE EXCEPTION 'the room has a stay' USING
            ERRCODE = 'check_violation', CONSTRAINT = 'hotel_rooms_empty';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER closed_rooms_are_empty BEFORE UPDATE OF status ON hotel_rooms
    FOR EACH ROW WHEN (OLD.status <> 'out_of_service' AND NEW.status = 'out_of_service')
    EXECUTE FUNCTION check_room_is_empty();
CREATE TRIGGER deleted_rooms_are_empty BEFORE UPDATE OF deleted_at ON hotel_rooms
    FOR EACH ROW WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL)
    EXECUTE FUNCTION check_room_is_empty();

CREATE FUNCTION check_room_of_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM hotel_rooms r
    WHERE r.book_id = NEW.book_id AND r.id = NEW.room_id AND r.deleted_at IS NULL
        AND r.status <> 'out_of_service'
    FOR SHARE;
    IF NOT FOUND THEN
        -- As if the table had the CONSTRAINT hotel_reservations_in_service.
        RAISE EXCEPTION 'the room is out of service' USING
            ERRCODE = 'check_violation', CONSTRAINT = 'hotel_reservations_in_service';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER new_stays_have_open_rooms BEFORE INSERT ON hotel_reservations
    FOR EACH ROW WHEN (NEW.status IN ('booked', 'checked_in'))
    EXECUTE FUNCTION check_room_of_stay();
CREATE TRIGGER stays_have_open_rooms BEFORE UPDATE OF room_id, status ON hotel_reservations
    FOR EACH ROW WHEN (NEW.status IN ('booked', 'checked_in') AND (
        NEW.room_id <> OLD.room_id OR OLD.status NOT IN ('booked', 'checked_in')))
    EXECUTE FUNCTION check_room_of_stay();
