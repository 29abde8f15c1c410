-- Receipts of orders and of transactions are kept by the same statements, in one table.

ALTER TABLE receipts
    ALTER COLUMN order_id DROP NOT NULL,
    ADD COLUMN transaction_id uuid,
    ADD FOREIGN KEY (book_id, transaction_id) REFERENCES transactions (book_id, id),
    ADD CONSTRAINT receipts_are_of_one CHECK (num_nonnulls(order_id, transaction_id) = 1);

INSERT INTO receipts (book_id, id, transaction_id, number, content, created_at)
SELECT book_id, id, transaction_id, number, content::jsonb, created_at FROM transaction_receipts;
DROP TABLE transaction_receipts;

CREATE UNIQUE INDEX receipts_of_transaction ON receipts (book_id, transaction_id, number)
    WHERE transaction_id IS NOT NULL;
