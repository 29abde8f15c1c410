-- A vocabulary of a table that every order writes is a domain: its check is made ready once in a
-- session, and a table's own checks anew by each statement.
CREATE DOMAIN stock_move_kind AS text CONSTRAINT stock_move_kind_known CHECK (VALUE IN (
    'opening', 'adjustment', 'count', 'purchase', 'waste', 'transfer', 'sale', 'reservation',
    'release', 'restore', 'return'));

-- How much there is, per store; the row without a store is what belongs to the whole business.
CREATE TABLE stock_levels (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    variant_id uuid NOT NULL,
    store_id uuid,
    on_hand numeric NOT NULL CONSTRAINT stock_levels_on_hand_bounds
        CHECK (on_hand > -1e12 AND on_hand < 1e12),
    -- Promised to scheduled orders; what can be sold is on_hand - reserved.
    reserved numeric NOT NULL DEFAULT 0 CONSTRAINT stock_levels_reserved_bounds
        CHECK (reserved >= 0 AND reserved < 1e12),
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    CONSTRAINT stock_levels_place_key UNIQUE NULLS NOT DISTINCT (book_id, variant_id, store_id),
    FOREIGN KEY (book_id, variant_id) REFERENCES variants (book_id, id),
    FOREIGN KEY (book_id, store_id) REFERENCES stores (book_id, id)
) WITH (fillfactor = 50);
-- The levels of a store.
CREATE INDEX stock_levels_by_store ON stock_levels (book_id, store_id, id);

-- Why it is as much as it is: on_hand and reserved are the sums of the moves, always.
CREATE TABLE stock_moves (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    variant_id uuid NOT NULL,
    store_id uuid,
    kind stock_move_kind NOT NULL,
    on_hand_change numeric NOT NULL,
    reserved_change numeric NOT NULL DEFAULT 0,
    -- The line of an order that moved it, and how often that line's order took stock before:
    -- the same line can be sold once and restored once in each round.
    order_id uuid,
    order_item_id uuid,
    round integer NOT NULL DEFAULT 0,
    reason text,
    actor jsonb,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, variant_id) REFERENCES variants (book_id, id)
);
-- The moves of a variant.
CREATE INDEX stock_moves_by_variant ON stock_moves (book_id, variant_id, id);
-- The moves of a store.
CREATE INDEX stock_moves_by_store ON stock_moves (book_id, store_id, id);
-- The moves of an order.
CREATE INDEX stock_moves_by_order ON stock_moves (book_id, order_id, id)
    WHERE order_id IS NOT NULL;
-- Sales are nearly all there is: finding them by kind would find everything.
CREATE INDEX stock_moves_by_kind ON stock_moves (book_id, kind, id) WHERE kind <> 'sale';
-- A line takes its goods from the stock once a round, and gives them back once.
CREATE UNIQUE INDEX stock_moves_once_per_line
    ON stock_moves (book_id, order_item_id, variant_id, kind, round) WHERE kind <> 'return';
-- What came back of a line, in parts.
CREATE INDEX stock_moves_returned ON stock_moves (book_id, order_item_id, variant_id, round)
    WHERE kind = 'return';
-- Whether stock was counted after a sale of the past that is imported now.
CREATE INDEX stock_moves_counted ON stock_moves (book_id, variant_id, created_at)
    WHERE kind IN ('opening', 'count');
