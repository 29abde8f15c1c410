-- The sandbox lists what it knows by time, as other providers do.
CREATE INDEX sandbox_payments_by_time ON sandbox_payments (book_id, paid_at, id);
CREATE INDEX sandbox_payouts_by_time ON sandbox_payouts (book_id, created_at, reference);
