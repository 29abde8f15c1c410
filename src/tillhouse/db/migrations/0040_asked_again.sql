-- When somebody last had a provider asked about a payment or a withdrawal: not too often.
ALTER TABLE payins ADD COLUMN asked_at timestamptz(3);
ALTER TABLE withdrawals ADD COLUMN looked_at timestamptz(3);
