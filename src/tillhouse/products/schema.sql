-- Groups of products, in the order in which the business shows them.
CREATE TABLE categories (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    name text NOT NULL,
    position integer NOT NULL DEFAULT 0,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    PRIMARY KEY (book_id, id)
);
-- A name belongs to one category.
CREATE UNIQUE INDEX categories_name_key
    ON categories (book_id, lower(name)) WHERE deleted_at IS NULL;
-- The categories in the order that the business gave them.
CREATE INDEX categories_by_position
    ON categories (book_id, position, lower(name), id) WHERE deleted_at IS NULL;

-- Goods and services, each with at least one variant that is sold.
CREATE TABLE products (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    name text NOT NULL,
    type text NOT NULL CONSTRAINT products_type_known
        CHECK (type IN ('simple', 'variable', 'bundle', 'service')),
    description text,
    category_id uuid,
    unit text,
    sku text,
    base_price numeric NOT NULL CONSTRAINT products_price_bounds
        CHECK (base_price >= 0 AND base_price < 1e15),
    -- Per cent, 7.5 for instance.
    tax_rate numeric NOT NULL DEFAULT 0
        CONSTRAINT products_tax_rate_bounds CHECK (tax_rate BETWEEN 0 AND 100),
    image_url text,
    is_active boolean NOT NULL DEFAULT true,
    -- Sold only as a modifier or a component, never as a line of its own.
    is_extra_only boolean NOT NULL DEFAULT false,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, category_id) REFERENCES categories (book_id, id)
);
-- The list in order of names, and searches by the beginning of one.
CREATE INDEX products_by_name ON products (book_id, lower(name) text_pattern_ops, id);
-- The products of a category.
CREATE INDEX products_by_category ON products (book_id, category_id, id);
-- An article number belongs to one product.
CREATE UNIQUE INDEX products_sku_key ON products (book_id, sku) WHERE deleted_at IS NULL;
-- The list of products that aren't deleted.
CREATE INDEX products_live ON products (book_id, id) WHERE deleted_at IS NULL;
-- The products of a type.
CREATE INDEX products_by_type ON products (book_id, type, id) WHERE deleted_at IS NULL;
-- The products that are on sale, or not.
CREATE INDEX products_by_activity ON products (book_id, is_active, id) WHERE deleted_at IS NULL;
-- Those that changed since a moment, the oldest change first.
CREATE INDEX products_by_change ON products (book_id, updated_at, id) WHERE deleted_at IS NULL;
-- Searches by the beginning of an article number.
CREATE INDEX products_by_sku
    ON products (book_id, lower(sku) text_pattern_ops) WHERE deleted_at IS NULL;

-- Every product has at least one: what has no variants of its own has the implicit one.
CREATE TABLE variants (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    product_id uuid NOT NULL,
    name text NOT NULL,
    sku text,
    -- Null: the product's.
    price numeric CONSTRAINT variants_price_bounds CHECK (price >= 0 AND price < 1e15),
    image_url text,
    is_implicit boolean NOT NULL DEFAULT false,
    is_active boolean NOT NULL DEFAULT true,
    tracks_stock boolean NOT NULL DEFAULT false,
    -- Whether more may be sold than there is; null: as the business says.
    stock_policy text CONSTRAINT variants_stock_policy_known
        CHECK (stock_policy IN ('deny', 'allow')),
    low_stock_threshold numeric CONSTRAINT variants_threshold_bounds
        CHECK (low_stock_threshold >= 0 AND low_stock_threshold < 1e9),
    position integer NOT NULL DEFAULT 0,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    CONSTRAINT variants_of_product UNIQUE (book_id, product_id, id),
    FOREIGN KEY (book_id, product_id) REFERENCES products (book_id, id)
);
-- A product without variants of its own has one that stands for it.
CREATE UNIQUE INDEX variants_one_implicit ON variants (book_id, product_id) WHERE is_implicit;
-- An article number belongs to one variant.
CREATE UNIQUE INDEX variants_sku_key ON variants (book_id, sku) WHERE deleted_at IS NULL;
-- Searches by the beginning of an article number.
CREATE INDEX variants_by_sku
    ON variants (book_id, lower(sku) text_pattern_ops) WHERE deleted_at IS NULL;

-- Prices of a variant in a store, where it is not the common one.
CREATE TABLE variant_prices (
    book_id uuid NOT NULL,
    variant_id uuid NOT NULL,
    store_id uuid NOT NULL,
    price numeric NOT NULL CONSTRAINT variant_prices_bounds CHECK (price >= 0 AND price < 1e15),
    PRIMARY KEY (book_id, variant_id, store_id),
    FOREIGN KEY (book_id, variant_id) REFERENCES variants (book_id, id),
    FOREIGN KEY (book_id, store_id) REFERENCES stores (book_id, id)
);

-- Choices that come with a product, and how many of them are taken.
CREATE TABLE modifier_groups (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    name text NOT NULL,
    min_choices integer NOT NULL DEFAULT 0,
    -- Null: as many as there are.
    max_choices integer,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    CONSTRAINT modifier_groups_choices_known
        CHECK (min_choices >= 0 AND coalesce(max_choices, 1000) >= greatest(min_choices, 1))
);

-- One of the choices, with what it adds to the price.
CREATE TABLE modifier_options (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    modifier_group_id uuid NOT NULL,
    name text NOT NULL,
    price_delta numeric NOT NULL DEFAULT 0
        CONSTRAINT modifier_options_delta_bounds CHECK (price_delta > -1e15 AND price_delta < 1e15),
    is_active boolean NOT NULL DEFAULT true,
    position integer NOT NULL DEFAULT 0,
    deleted_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    CONSTRAINT modifier_options_of_group UNIQUE (book_id, modifier_group_id, id),
    FOREIGN KEY (book_id, modifier_group_id) REFERENCES modifier_groups (book_id, id)
);

-- The choices of a product, in order.
CREATE TABLE product_modifier_groups (
    book_id uuid NOT NULL,
    product_id uuid NOT NULL,
    modifier_group_id uuid NOT NULL,
    position integer NOT NULL DEFAULT 0,
    PRIMARY KEY (book_id, product_id, modifier_group_id),
    FOREIGN KEY (book_id, product_id) REFERENCES products (book_id, id),
    FOREIGN KEY (book_id, modifier_group_id) REFERENCES modifier_groups (book_id, id)
);
-- The products that have a group of choices.
CREATE INDEX product_modifier_groups_by_group
    ON product_modifier_groups (book_id, modifier_group_id);

-- What a bundle consists of: selling one takes these from the stock, not the bundle itself.
CREATE TABLE components (
    book_id uuid NOT NULL,
    product_id uuid NOT NULL,
    variant_id uuid NOT NULL,
    quantity numeric NOT NULL CONSTRAINT components_quantity_bounds
        CHECK (quantity > 0 AND quantity < 1e9),
    position integer NOT NULL DEFAULT 0,
    PRIMARY KEY (book_id, product_id, variant_id),
    FOREIGN KEY (book_id, product_id) REFERENCES products (book_id, id),
    FOREIGN KEY (book_id, variant_id) REFERENCES variants (book_id, id)
);
-- The products that a variant goes into.
CREATE INDEX components_by_variant ON components (book_id, variant_id);
