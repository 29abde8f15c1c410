-- Words of a name. The book is a word as well, so that one book's search does not wade through
-- another's; its sign is one that no word begins with. In names signs become gaps: to the parser
-- "St.John" would be one word, a host.
CREATE FUNCTION customer_words(book_id uuid, name text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_to_tsvector(ARRAY['#' || book_id::text])
        || to_tsvector('simple', regexp_replace(name, '[!-/:-@[-`{-~]+', ' ', 'g'));

-- Customers of a book; the same person in two books is two customers.
CREATE TABLE customers (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    name text NOT NULL,
    email text,
    -- E.164, so that one number has one spelling.
    phone_number text,
    whatsapp_number text,
    notes text,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    PRIMARY KEY (book_id, id)
);
-- A telephone number belongs to one customer.
CREATE UNIQUE INDEX customers_phone_key
    ON customers (book_id, phone_number) WHERE deleted_at IS NULL;
-- An email address belongs to one customer.
CREATE UNIQUE INDEX customers_email_key
    ON customers (book_id, lower(email)) WHERE deleted_at IS NULL;
-- A message finds its customer by the number that it came from.
CREATE INDEX customers_by_whatsapp
    ON customers (book_id, whatsapp_number) WHERE deleted_at IS NULL;
-- The list, the newest first: ids rise with time.
CREATE INDEX customers_in_order ON customers (book_id, id) WHERE deleted_at IS NULL;
-- The list in order of names, and searches by the beginning of one.
CREATE INDEX customers_by_name
    ON customers (book_id, lower(name) text_pattern_ops, id) WHERE deleted_at IS NULL;
-- Searches by a word of the name.
CREATE INDEX customers_by_word ON customers USING gin (customer_words(book_id, name));
-- Those that changed since a moment, the oldest change first.
CREATE INDEX customers_by_change ON customers (book_id, updated_at, id) WHERE deleted_at IS NULL;

-- How many customers a book has is the sum of its slots: who adds one writes the slot of the own
-- connection, so that hardly anybody waits for another, and no list counts a million rows.
CREATE TABLE customer_tallies (
    book_id uuid NOT NULL REFERENCES books,
    slot integer NOT NULL,
    customers bigint NOT NULL,
    PRIMARY KEY (book_id, slot)
) WITH (fillfactor = 50);

-- The query for words of names within one book, as `customer_words` indexes them.
CREATE FUNCTION customer_query(book_id uuid, words text) RETURNS tsquery
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CAST(quote_literal('#' || book_id::text) AS tsquery) && to_tsquery('simple', words);
