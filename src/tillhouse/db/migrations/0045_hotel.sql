-- Hotel: rooms, what they cost, guests, stays and what guests ask for.

-- A room and the days of a stay are compared by one index.
CREATE EXTENSION IF NOT EXISTS btree_gist;

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
CREATE UNIQUE INDEX hotel_room_types_name_key ON hotel_room_types (book_id, lower(name))
    WHERE deleted_at IS NULL;

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
CREATE UNIQUE INDEX hotel_rooms_number_key ON hotel_rooms (book_id, lower(number))
    WHERE deleted_at IS NULL;
CREATE INDEX hotel_rooms_by_type ON hotel_rooms (book_id, room_type_id) WHERE deleted_at IS NULL;

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
CREATE UNIQUE INDEX hotel_rate_plans_name_key
    ON hotel_rate_plans (book_id, room_type_id, lower(name)) WHERE deleted_at IS NULL;

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
CREATE UNIQUE INDEX hotel_guests_customer_key ON hotel_guests (book_id, customer_id)
    WHERE deleted_at IS NULL;
CREATE INDEX hotel_guests_in_order ON hotel_guests (book_id, id) WHERE deleted_at IS NULL;
CREATE INDEX hotel_guests_by_word ON hotel_guests USING gin (customer_words(book_id, name));

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
    PRIMARY KEY (book_id, id),
    CONSTRAINT hotel_reservations_code_key UNIQUE (book_id, short_code),
    CONSTRAINT hotel_reservations_nights CHECK (check_out_on > check_in_on),
    FOREIGN KEY (book_id, guest_id) REFERENCES hotel_guests (book_id, id),
    FOREIGN KEY (book_id, room_id, room_type_id) REFERENCES hotel_rooms (book_id, id, room_type_id),
    FOREIGN KEY (book_id, rate_plan_id) REFERENCES hotel_rate_plans (book_id, id),
    -- No room is promised twice for one night.
    CONSTRAINT hotel_reservations_room_taken EXCLUDE USING gist (
        book_id WITH =, room_id WITH =, daterange(check_in_on, check_out_on) WITH &&
    ) WHERE (status IN ('booked', 'checked_in'))
) WITH (fillfactor = 75);
-- Nobody moves into a room that somebody has not left, whatever the dates say.
CREATE UNIQUE INDEX hotel_reservations_in_room ON hotel_reservations (book_id, room_id)
    WHERE status = 'checked_in';
CREATE INDEX hotel_reservations_open ON hotel_reservations
    (book_id, room_id, check_in_on, check_out_on) WHERE status IN ('booked', 'checked_in');
CREATE INDEX hotel_reservations_to_come ON hotel_reservations
    (book_id, room_type_id, check_in_on, check_out_on, room_id)
    WHERE status IN ('booked', 'checked_in');
CREATE INDEX hotel_reservations_by_status ON hotel_reservations (book_id, status, id);
CREATE INDEX hotel_reservations_by_arrival ON hotel_reservations (book_id, check_in_on, id);
CREATE INDEX hotel_reservations_of_guest ON hotel_reservations (book_id, guest_id, id);
CREATE INDEX hotel_reservations_of_room ON hotel_reservations (book_id, room_id, id);
CREATE INDEX hotel_reservations_of_group ON hotel_reservations (book_id, group_id, id)
    WHERE group_id IS NOT NULL;
CREATE INDEX hotel_reservations_by_word ON hotel_reservations
    USING gin (customer_words(book_id, guest_name));

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
CREATE INDEX hotel_service_requests_in_order ON hotel_service_requests (book_id, id);
CREATE INDEX hotel_service_requests_by_status ON hotel_service_requests (book_id, status, id);
CREATE INDEX hotel_service_requests_of_reservation
    ON hotel_service_requests (book_id, reservation_id, id) WHERE reservation_id IS NOT NULL;
CREATE INDEX hotel_service_requests_of_room ON hotel_service_requests (book_id, room_id, id)
    WHERE room_id IS NOT NULL;
