-- The terms of a school, which orders belong to.
CREATE TABLE academic_terms (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    name text NOT NULL,
    starts_on date,
    ends_on date,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    CONSTRAINT academic_terms_in_order CHECK (ends_on >= starts_on)
);
-- A name belongs to one term.
CREATE UNIQUE INDEX academic_terms_name_key
    ON academic_terms (book_id, lower(name)) WHERE deleted_at IS NULL;

-- Labels that a business gives its orders.
CREATE TABLE tags (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    name text NOT NULL,
    slug text NOT NULL,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    CONSTRAINT tags_slug_key UNIQUE (book_id, slug)
);
