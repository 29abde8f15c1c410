-- The tables of a restaurant.
CREATE TABLE dining_tables (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    store_id uuid,
    label text NOT NULL,
    area text,
    seats integer CONSTRAINT dining_tables_seats_known CHECK (seats BETWEEN 1 AND 1000),
    is_active boolean NOT NULL DEFAULT true,
    -- How many sessions it ever had: their list need not count them. Who opens one changes this
    -- first, and so waits for whoever deletes the table meanwhile.
    sessions integer NOT NULL DEFAULT 0,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, store_id) REFERENCES stores (book_id, id)
);
-- A label belongs to one table of a store.
CREATE UNIQUE INDEX dining_tables_label_key
    ON dining_tables (book_id, store_id, lower(label)) NULLS NOT DISTINCT WHERE deleted_at IS NULL;

-- Guests at a table, from when they sit down to when they have paid.
CREATE TABLE table_sessions (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    table_id uuid NOT NULL,
    status text NOT NULL CONSTRAINT table_sessions_status_known
        CHECK (status IN ('open', 'closed')),
    covers integer CONSTRAINT table_sessions_covers_known CHECK (covers BETWEEN 1 AND 1000),
    opened_at timestamptz(3) NOT NULL,
    closed_at timestamptz(3),
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, table_id) REFERENCES dining_tables (book_id, id)
);
-- A table has one open session: who loses the race hears that it is taken.
CREATE UNIQUE INDEX table_sessions_one_open
    ON table_sessions (book_id, table_id) WHERE status = 'open';
-- The list of sessions, the latest first.
CREATE INDEX table_sessions_by_time ON table_sessions (book_id, opened_at, id);
-- The sessions of a table.
CREATE INDEX table_sessions_by_table ON table_sessions (book_id, table_id, opened_at, id);
