-- The rate at which a line was sold: a line without a product has no other place for it.
ALTER TABLE order_items ADD COLUMN tax_rate numeric;
