-- The sales of a period are summed from whole hours; quarters only where an interval splits one.

CREATE TABLE sales_by_hour (
    book_id uuid NOT NULL,
    -- When it began, in UTC.
    hour_at timestamptz(0) NOT NULL,
    store_id uuid,
    -- Of all orders but the cancelled ones.
    total_amount numeric NOT NULL,
    CONSTRAINT sales_by_hour_key UNIQUE NULLS NOT DISTINCT (book_id, hour_at, store_id)
) WITH (fillfactor = 70);

INSERT INTO sales_by_hour (book_id, hour_at, store_id, total_amount)
SELECT book_id, date_bin('1 hour', quarter_at, '2001-01-01Z'), store_id, sum(total_amount)
FROM sales_by_quarter_hour GROUP BY 1, 2, 3;
