-- The part of a refund that its provider had taken back by itself when the refund turned out to
-- have succeeded: its order has given it already, and it leaves the wallet no second time.

ALTER TABLE refunds ADD COLUMN taken_before order_amount NOT NULL DEFAULT 0;
ALTER TABLE refunds ADD CONSTRAINT refunds_taken_before_within_shortfall
    CHECK (taken_before <= shortfall);
