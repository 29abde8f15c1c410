-- Places in which a business sells.
CREATE TABLE stores (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    name text NOT NULL,
    address text,
    phone text,
    -- Null: the business's own.
    time_zone text,
    -- When a business day ends, in minutes after midnight: a bar's Friday ends on Saturday.
    day_cutoff_minutes integer NOT NULL DEFAULT 0
        CONSTRAINT stores_day_cutoff_within_a_day CHECK (day_cutoff_minutes BETWEEN 0 AND 1439),
    -- How long before its time a scheduled order goes to the kitchen.
    preparation_minutes integer NOT NULL DEFAULT 20
        CONSTRAINT stores_preparation_known CHECK (preparation_minutes BETWEEN 0 AND 1440),
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    PRIMARY KEY (book_id, id)
);
-- A name belongs to one store.
CREATE UNIQUE INDEX stores_name_key ON stores (book_id, lower(name)) WHERE deleted_at IS NULL;
