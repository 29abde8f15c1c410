-- The sandbox lists its refunds by time, as it does payments and payouts.

CREATE INDEX sandbox_refunds_by_time ON sandbox_refunds (book_id, created_at, reference);
