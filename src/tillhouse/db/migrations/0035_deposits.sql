-- Orders are paid into accounts of their own: what is shown of one is read from there.
ALTER TABLE orders DROP COLUMN deposit;
ALTER TABLE virtual_accounts ADD COLUMN order_id uuid;
CREATE INDEX virtual_accounts_by_order ON virtual_accounts (book_id, order_id, created_at)
    WHERE order_id IS NOT NULL;
CREATE INDEX payins_by_account ON payins (book_id, virtual_account_id)
    WHERE virtual_account_id IS NOT NULL;
