-- Orders and customers by their last change. Those that were never changed are as old as their ids,
-- by which they are found: so recording one writes no more than before.
CREATE INDEX orders_by_change ON orders (book_id, updated_at, id)
    WHERE deleted_at IS NULL AND updated_at > created_at;
CREATE INDEX customers_by_change ON customers (book_id, updated_at, id)
    WHERE deleted_at IS NULL AND updated_at > created_at;
