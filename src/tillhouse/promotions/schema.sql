-- Discounts with their conditions and how often they were used.
CREATE TABLE promotions (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    name text NOT NULL,
    type text NOT NULL CONSTRAINT promotions_type_known
        CHECK (type IN ('percent', 'fixed', 'free_item')),
    scope text NOT NULL CONSTRAINT promotions_scope_known
        CHECK (scope IN ('order', 'products', 'categories')),
    -- Per cent or an amount; a free item has none.
    value numeric NOT NULL CONSTRAINT promotions_value_bounds CHECK (value >= 0 AND value < 1e15),
    product_ids uuid[] NOT NULL DEFAULT '{}',
    category_ids uuid[] NOT NULL DEFAULT '{}',
    minimum_subtotal numeric,
    maximum_discount numeric,
    starts_at timestamptz(3),
    ends_at timestamptz(3),
    -- Days of the week (1 = Monday) and minutes of the day, in the business's time zone.
    days integer[],
    from_minute integer,
    to_minute integer,
    limit_total integer,
    limit_per_customer integer,
    -- Never above limit_total: the guarded UPDATE that counts is the judge.
    used integer NOT NULL DEFAULT 0,
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    CONSTRAINT promotions_within_limit CHECK (used >= 0 AND used <= limit_total)
);
-- The list in order of names.
CREATE INDEX promotions_by_name ON promotions (book_id, lower(name), id);

-- How often a customer used a promotion.
CREATE TABLE promotion_customers (
    book_id uuid NOT NULL,
    promotion_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    used integer NOT NULL CONSTRAINT promotion_customers_used_known CHECK (used >= 0),
    PRIMARY KEY (book_id, promotion_id, customer_id),
    FOREIGN KEY (book_id, promotion_id) REFERENCES promotions (book_id, id)
);
