-- One exclusion covers a room and a range of days.
CREATE EXTENSION IF NOT EXISTS btree_gist;

-- Kinds of room with their price and how many people they hold.
CREATE TABLE hotel_room_types (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    name text NOT NULL,
    description text,
    capacity integer NOT NULL CHECK (capacity > 0),
    -- The price of a night where no rate plan says another.
    rate order_amount NOT NULL,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    PRIMARY KEY (book_id, id)
);
-- A name belongs to one type.
CREATE UNIQUE INDEX hotel_room_types_name_key ON hotel_room_types (book_id, lower(name))
    WHERE deleted_at IS NULL;

-- The rooms with their state of housekeeping.
CREATE TABLE hotel_rooms (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    room_type_id uuid NOT NULL,
    number text NOT NULL,
    floor text,
    status text NOT NULL CONSTRAINT hotel_rooms_status_known
        CHECK (status IN ('clean', 'dirty', 'out_of_service')),
    notes text,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    -- A room keeps its type, which its reservations name with it.
    UNIQUE (book_id, id, room_type_id),
    FOREIGN KEY (book_id, room_type_id) REFERENCES hotel_room_types (book_id, id)
) WITH (fillfactor = 75);
-- A number belongs to one room.
CREATE UNIQUE INDEX hotel_rooms_number_key ON hotel_rooms (book_id, lower(number))
    WHERE deleted_at IS NULL;
-- The rooms of a type, among which a booking looks for a free one.
CREATE INDEX hotel_rooms_by_type ON hotel_rooms (book_id, room_type_id) WHERE deleted_at IS NULL;

-- Prices of a type of room, by day of the week, with their taxes.
CREATE TABLE hotel_rate_plans (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    room_type_id uuid NOT NULL,
    name text NOT NULL,
    price order_amount NOT NULL,
    -- The price of nights that begin on these days of the week.
    weekday_prices jsonb NOT NULL,
    taxes jsonb NOT NULL,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, room_type_id) REFERENCES hotel_room_types (book_id, id)
);
-- A name belongs to one plan of a type.
CREATE UNIQUE INDEX hotel_rate_plans_name_key
    ON hotel_rate_plans (book_id, room_type_id, lower(name)) WHERE deleted_at IS NULL;

-- Customers as guests: what a hotel has to know of them.
CREATE TABLE hotel_guests (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    name text NOT NULL,
    document_type text CONSTRAINT hotel_guests_document_known
        CHECK (document_type IN ('passport', 'national_id', 'drivers_license', 'other')),
    document_number text,
    nationality text,
    notes text,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, customer_id) REFERENCES customers (book_id, id)
);
-- A customer is one guest.
CREATE UNIQUE INDEX hotel_guests_customer_key ON hotel_guests (book_id, customer_id)
    WHERE deleted_at IS NULL;
-- The list of guests.
CREATE INDEX hotel_guests_in_order ON hotel_guests (book_id, id) WHERE deleted_at IS NULL;
-- Searches by a word of the name.
CREATE INDEX hotel_guests_by_word ON hotel_guests USING gin (customer_words(book_id, name));

-- Stays, from their booking to their end.
CREATE TABLE hotel_reservations (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    short_code text NOT NULL,
    status text NOT NULL CONSTRAINT hotel_reservations_status_known
        CHECK (status IN ('booked', 'checked_in', 'checked_out', 'cancelled', 'no_show')),
    group_id uuid,
    guest_id uuid NOT NULL,
    -- As it was when the room was booked: a search finds its words.
    guest_name text NOT NULL,
    room_type_id uuid NOT NULL,
    room_id uuid NOT NULL,
    rate_plan_id uuid,
    adults integer NOT NULL CHECK (adults > 0),
    children integer NOT NULL CHECK (children >= 0),
    -- The last night is the one before the day of check-out.
    check_in_on date NOT NULL,
    check_out_on date NOT NULL,
    -- Each night's price as booked, and the taxes that come with it.
    nights jsonb NOT NULL,
    taxes jsonb NOT NULL,
    total_amount order_amount NOT NULL,
    deposit_amount order_amount NOT NULL,
    currency text NOT NULL,
    source text NOT NULL,
    notes text,
    checked_in_at timestamptz(3),
    checked_out_at timestamptz(3),
    cancelled_at timestamptz(3),
    no_show_at timestamptz(3),
    cancel_reason text,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    -- When the guest said to come.
    confirmed_at timestamptz(3),
    -- Whether this very room was asked for, or given by a move: no later booking moves the stay.
    is_room_chosen boolean NOT NULL DEFAULT false,
    PRIMARY KEY (book_id, id),
    CONSTRAINT hotel_reservations_code_key UNIQUE (book_id, short_code),
    CONSTRAINT hotel_reservations_nights CHECK (check_out_on > check_in_on),
    FOREIGN KEY (book_id, guest_id) REFERENCES hotel_guests (book_id, id),
    FOREIGN KEY (book_id, room_id, room_type_id) REFERENCES hotel_rooms (book_id, id, room_type_id),
    FOREIGN KEY (book_id, rate_plan_id) REFERENCES hotel_rate_plans (book_id, id),
    CONSTRAINT hotel_reservations_room_taken EXCLUDE USING gist (
        book_id WITH =, room_id WITH =, daterange(check_in_on, check_out_on) WITH &&
    ) WHERE (status IN ('booked', 'checked_in')) DEFERRABLE
) WITH (fillfactor = 75);
-- No guest moves into a room that another has not left, whatever the dates say.
CREATE UNIQUE INDEX hotel_reservations_in_room ON hotel_reservations (book_id, room_id)
    WHERE status = 'checked_in';
-- The nights at which a room is taken.
CREATE INDEX hotel_reservations_open ON hotel_reservations
    (book_id, room_id, check_in_on, check_out_on) WHERE status IN ('booked', 'checked_in');
-- The list of stays in one state.
CREATE INDEX hotel_reservations_by_status ON hotel_reservations (book_id, status, id);
-- The list of stays by day of arrival.
CREATE INDEX hotel_reservations_by_arrival ON hotel_reservations (book_id, check_in_on, id);
-- The stays of a guest.
CREATE INDEX hotel_reservations_of_guest ON hotel_reservations (book_id, guest_id, id);
-- The stays in a room.
CREATE INDEX hotel_reservations_of_room ON hotel_reservations (book_id, room_id, id);
-- The stays that were booked together.
CREATE INDEX hotel_reservations_of_group ON hotel_reservations (book_id, group_id, id)
    WHERE group_id IS NOT NULL;
-- Searches by a word of the guest's name.
CREATE INDEX hotel_reservations_by_word ON hotel_reservations
    USING gin (customer_words(book_id, guest_name));
-- The list of stays by day of departure.
CREATE INDEX hotel_reservations_by_departure ON hotel_reservations (book_id, check_out_on, id);
-- Free rooms of a type are found from the index alone.
CREATE INDEX hotel_reservations_to_come ON hotel_reservations
    (book_id, room_type_id, check_in_on, check_out_on, room_id) INCLUDE (id, status, is_room_chosen)
    WHERE status IN ('booked', 'checked_in');
-- The stays that no booking moves to another room.
CREATE INDEX hotel_reservations_kept ON hotel_reservations
    (book_id, room_id, check_in_on, check_out_on)
    WHERE status = 'checked_in' OR status = 'booked' AND is_room_chosen;

-- What guests and staff ask for, until it is done.
CREATE TABLE hotel_service_requests (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    category text NOT NULL CONSTRAINT hotel_service_requests_category_known CHECK (category IN
        ('housekeeping', 'maintenance', 'food', 'transport', 'laundry', 'other')),
    status text NOT NULL CONSTRAINT hotel_service_requests_status_known
        CHECK (status IN ('open', 'in_progress', 'done', 'cancelled')),
    source text NOT NULL CONSTRAINT hotel_service_requests_source_known
        CHECK (source IN ('guest', 'staff', 'voice', 'message')),
    description text,
    guest_id uuid,
    reservation_id uuid,
    room_id uuid,
    -- The member of the business who sees to it.
    assigned_to uuid,
    started_at timestamptz(3),
    ended_at timestamptz(3),
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, guest_id) REFERENCES hotel_guests (book_id, id),
    FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations (book_id, id),
    FOREIGN KEY (book_id, room_id) REFERENCES hotel_rooms (book_id, id)
);
-- The list of requests in one state.
CREATE INDEX hotel_service_requests_by_status ON hotel_service_requests (book_id, status, id);
-- The requests of a stay.
CREATE INDEX hotel_service_requests_of_reservation
    ON hotel_service_requests (book_id, reservation_id, id) WHERE reservation_id IS NOT NULL;
-- The requests for a room.
CREATE INDEX hotel_service_requests_of_room ON hotel_service_requests (book_id, room_id, id)
    WHERE room_id IS NOT NULL;
-- The requests of a category, the newest first.
CREATE INDEX hotel_service_requests_by_category ON hotel_service_requests (book_id, category, id);
-- The requests that a member sees to.
CREATE INDEX hotel_service_requests_of_assignee ON hotel_service_requests (book_id, assigned_to, id)
    WHERE assigned_to IS NOT NULL;

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
    room_type_id uuid NOT NULL,
    PRIMARY KEY (book_id, side, period, day, status, room_type_id) INCLUDE (stays)
) WITH (fillfactor = 70);

-- Changes of the tallies of stays, until a worker folds them into one row each.
CREATE TABLE hotel_stay_tally_changes (
    book_id uuid NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    check_in_on date NOT NULL,
    check_out_on date NOT NULL,
    status text NOT NULL,
    stays bigint NOT NULL,
    room_type_id uuid NOT NULL,
    PRIMARY KEY (book_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- A customer who is deleted is a guest no more, and can't be deleted before the stay is over.
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

-- A stay is booked for a guest who is still known.
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
-- A stay that was over is expected again only if its guest was not deleted meanwhile.
CREATE TRIGGER stays_again_have_known_guests BEFORE UPDATE OF status ON hotel_reservations
    FOR EACH ROW WHEN (OLD.status NOT IN ('booked', 'checked_in')
        AND NEW.status IN ('booked', 'checked_in'))
    EXECUTE FUNCTION check_guest_of_stay();
-- A stay is given another guest: one who is known, as the guest of a booking is.
CREATE TRIGGER stays_of_other_guests_have_known_guests BEFORE UPDATE OF guest_id
    ON hotel_reservations
    FOR EACH ROW WHEN (OLD.guest_id IS DISTINCT FROM NEW.guest_id)
    EXECUTE FUNCTION check_guest_of_stay();

-- By the statement, not by the row: one statement may change many. A change of anything else, such
-- as the time of the last message, adds up to nothing and writes nothing.
CREATE FUNCTION tally_stays() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER stays_are_tallied AFTER INSERT ON hotel_reservations
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION tally_stays();
CREATE TRIGGER stays_are_tallied_again AFTER UPDATE ON hotel_reservations
    REFERENCING OLD TABLE AS replaced NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION tally_stays();

-- A room with stays in it, or to come, is neither closed nor deleted.
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

-- No stay is put into a room that is closed or deleted.
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
