-- Orders and customers by their last change, new ones too: a page of them goes on after the one
-- before by this index alone, however many there are.
DROP INDEX orders_by_change;
CREATE INDEX orders_by_change ON orders (book_id, updated_at, id) WHERE deleted_at IS NULL;
DROP INDEX customers_by_change;
CREATE INDEX customers_by_change ON customers (book_id, updated_at, id) WHERE deleted_at IS NULL;
