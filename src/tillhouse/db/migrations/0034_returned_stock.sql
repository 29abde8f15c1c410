-- Stock of lines that are refunded comes back, as often as a line is refunded in part.
ALTER DOMAIN stock_move_kind DROP CONSTRAINT stock_move_kind_known;
ALTER DOMAIN stock_move_kind ADD CONSTRAINT stock_move_kind_known CHECK (VALUE IN (
    'opening', 'adjustment', 'count', 'purchase', 'waste', 'transfer', 'sale', 'reservation',
    'release', 'restore', 'return'));
ALTER TABLE stock_moves DROP CONSTRAINT stock_moves_once_per_line;
CREATE UNIQUE INDEX stock_moves_once_per_line
    ON stock_moves (book_id, order_item_id, variant_id, kind, round) WHERE kind <> 'return';
CREATE INDEX stock_moves_returned ON stock_moves (book_id, order_item_id, variant_id, round)
    WHERE kind = 'return';
