-- The sums of a period of the statement need what came in by the day, beside the change. The days
-- are summed up again by the chore that made them; until then transfers are read.
DELETE FROM wallet_days;
ALTER TABLE wallet_days ADD COLUMN credits numeric NOT NULL;
