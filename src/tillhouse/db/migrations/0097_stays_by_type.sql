-- Tallies of stays by room type: how many rooms of a type are free on each night of a year is read
-- from some rows a day, and no longer counted from every stay.
LOCK TABLE hotel_reservations IN SHARE MODE;
DELETE FROM hotel_stay_tally_changes;
DELETE FROM hotel_stay_tallies;
ALTER TABLE hotel_stay_tally_changes ADD COLUMN room_type_id uuid NOT NULL;
ALTER TABLE hotel_stay_tallies ADD COLUMN room_type_id uuid NOT NULL;
ALTER TABLE hotel_stay_tallies DROP CONSTRAINT hotel_stay_tallies_pkey;
ALTER TABLE hotel_stay_tallies
    ADD PRIMARY KEY (book_id, side, period, day, status, room_type_id) INCLUDE (stays);

CREATE OR REPLACE FUNCTION tally_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO hotel_stay_tally_changes
            (book_id, check_in_on, check_out_on, status, room_type_id, stays)
        SELECT book_id, check_in_on, check_out_on, status, room_type_id, count(*) FROM written
        GROUP BY 1, 2, 3, 4, 5;
    ELSE
        INSERT INTO hotel_stay_tally_changes
            (book_id, check_in_on, check_out_on, status, room_type_id, stays)
        SELECT book_id, check_in_on, check_out_on, status, room_type_id, sum(stays)
        FROM (
            SELECT book_id, check_in_on, check_out_on, status, room_type_id, -1 AS stays
            FROM replaced
            UNION ALL SELECT book_id, check_in_on, check_out_on, status, room_type_id, 1
            FROM written
        ) c
        GROUP BY 1, 2, 3, 4, 5 HAVING sum(stays) <> 0;
    END IF;
    RETURN NULL;
END $$;

INSERT INTO hotel_stay_tallies (book_id, side, period, day, status, room_type_id, stays)
SELECT v.book_id, p.side, p.period, p.day, v.status, v.room_type_id, count(*)
FROM hotel_reservations v
CROSS JOIN LATERAL (VALUES
    ('arrival', 'day', v.check_in_on),
    ('arrival', 'month', date_trunc('month', v.check_in_on)::date),
    ('departure', 'day', v.check_out_on),
    ('departure', 'month', date_trunc('month', v.check_out_on)::date)) p (side, period, day)
GROUP BY 1, 2, 3, 4, 5, 6;
