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
CREATE UNIQUE INDEX customers_phone_key
    ON customers (book_id, phone_number) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX customers_email_key
    ON customers (book_id, lower(email)) WHERE deleted_at IS NULL;
CREATE INDEX customers_by_name ON customers (book_id, lower(name) text_pattern_ops, id);
-- Words of the name by their beginnings; the book is a word as well, so that one book's search
-- does not wade through another's.
CREATE INDEX customers_by_word ON customers USING gin (
    (to_tsvector('simple', 'b' || replace(book_id::text, '-', ''))
        || to_tsvector('simple', name)));
