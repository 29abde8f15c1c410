-- Since when an order that was completed with an automated deposit is pending again: it can't be
-- cancelled until that deposit went back, whatever else was changed meanwhile.
ALTER TABLE orders ADD COLUMN reopened_at timestamp(3) with time zone;
