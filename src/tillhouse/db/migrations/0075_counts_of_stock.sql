-- Whether stock was counted after a sale of the past that is imported now.
CREATE INDEX stock_moves_counted ON stock_moves (book_id, variant_id, created_at)
    WHERE kind IN ('opening', 'count');
