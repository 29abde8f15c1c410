-- The particulars of a business that stand on its receipts and bills.
ALTER TABLE businesses ADD COLUMN legal_name text;
ALTER TABLE businesses ADD COLUMN address jsonb;
ALTER TABLE businesses ADD COLUMN tax_numbers jsonb NOT NULL DEFAULT '[]';
ALTER TABLE businesses ADD COLUMN receipt_footer text;
