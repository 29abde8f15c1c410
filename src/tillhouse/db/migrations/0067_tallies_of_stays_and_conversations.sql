-- Stays by status and days, conversations by status, member and whether they are unread: the total
-- of a list is the sum of few rows, however many it lists.
CREATE TABLE hotel_stay_tallies (
    book_id uuid NOT NULL,
    -- The day is that of an 'arrival' or of a 'departure'.
    side text NOT NULL,
    -- A 'day', or a 'month', of which the day is the first.
    period text NOT NULL,
    day date NOT NULL,
    status text NOT NULL,
    stays bigint NOT NULL,
    PRIMARY KEY (book_id, side, period, day, status)
) WITH (fillfactor = 70);
CREATE TABLE hotel_stay_tally_changes (
    book_id uuid NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    check_in_on date NOT NULL,
    check_out_on date NOT NULL,
    status text NOT NULL,
    stays bigint NOT NULL,
    PRIMARY KEY (book_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

CREATE TABLE conversation_tallies (
    book_id uuid NOT NULL,
    status text NOT NULL,
    assignee_id uuid,
    is_unread boolean NOT NULL,
    conversations bigint NOT NULL,
    CONSTRAINT conversation_tallies_kind_key
        UNIQUE NULLS NOT DISTINCT (book_id, status, assignee_id, is_unread)
) WITH (fillfactor = 70);
CREATE TABLE conversation_tally_changes (
    book_id uuid NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    status text NOT NULL,
    assignee_id uuid,
    is_unread boolean NOT NULL,
    conversations bigint NOT NULL,
    PRIMARY KEY (book_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- By the statement, not by the row: one statement may change many. A change of anything else, such
-- as the time of the last message, adds up to nothing and writes nothing.
CREATE FUNCTION tally_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO hotel_stay_tally_changes (book_id, check_in_on, check_out_on, status, stays)
        SELECT book_id, check_in_on, check_out_on, status, count(*) FROM written
        GROUP BY 1, 2, 3, 4;
    ELSE
        INSERT INTO hotel_stay_tally_changes (book_id, check_in_on, check_out_on, status, stays)
        SELECT book_id, check_in_on, check_out_on, status, sum(stays)
        FROM (
            SELECT book_id, check_in_on, check_out_on, status, -1 AS stays FROM replaced
            UNION ALL SELECT book_id, check_in_on, check_out_on, status, 1 FROM written
        ) c
        GROUP BY 1, 2, 3, 4 HAVING sum(stays) <> 0;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER stays_are_tallied AFTER INSERT ON hotel_reservations
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION tally_stays();
CREATE TRIGGER stays_are_tallied_again AFTER UPDATE ON hotel_reservations
    REFERENCING OLD TABLE AS replaced NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION tally_stays();

CREATE FUNCTION tally_conversations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO conversation_tally_changes
            (book_id, status, assignee_id, is_unread, conversations)
        SELECT book_id, status, assignee_id, unread_count > 0, count(*) FROM written
        GROUP BY 1, 2, 3, 4;
    ELSE
        INSERT INTO conversation_tally_changes
            (book_id, status, assignee_id, is_unread, conversations)
        SELECT book_id, status, assignee_id, is_unread, sum(conversations)
        FROM (
            SELECT book_id, status, assignee_id, unread_count > 0 AS is_unread,
                -1 AS conversations
            FROM replaced
            UNION ALL SELECT book_id, status, assignee_id, unread_count > 0, 1 FROM written
        ) c
        GROUP BY 1, 2, 3, 4 HAVING sum(conversations) <> 0;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER conversations_are_tallied AFTER INSERT ON conversations
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION tally_conversations();
CREATE TRIGGER conversations_are_tallied_again AFTER UPDATE ON conversations
    REFERENCING OLD TABLE AS replaced NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION tally_conversations();

INSERT INTO hotel_stay_tallies (book_id, side, period, day, status, stays)
SELECT v.book_id, p.side, p.period, p.day, v.status, count(*)
FROM hotel_reservations v
CROSS JOIN LATERAL (VALUES
    ('arrival', 'day', v.check_in_on),
    ('arrival', 'month', date_trunc('month', v.check_in_on)::date),
    ('departure', 'day', v.check_out_on),
    ('departure', 'month', date_trunc('month', v.check_out_on)::date)) p (side, period, day)
GROUP BY 1, 2, 3, 4, 5;
INSERT INTO conversation_tallies (book_id, status, assignee_id, is_unread, conversations)
SELECT book_id, status, assignee_id, unread_count > 0, count(*) FROM conversations
GROUP BY 1, 2, 3, 4;
