-- What finance tells of a business is kept as it changes: sales by the quarter of an hour,
-- transactions by kind, what customers owe and what they have to come.

-- Local hours and days of every time zone are made of quarters of an hour in UTC.
CREATE TABLE sales_by_quarter_hour (
    book_id uuid NOT NULL,
    -- When it began.
    quarter_at timestamptz(0) NOT NULL,
    store_id uuid,
    -- Of all orders but the cancelled ones.
    total_amount numeric NOT NULL,
    CONSTRAINT sales_by_quarter_hour_key UNIQUE NULLS NOT DISTINCT (book_id, quarter_at, store_id)
) WITH (fillfactor = 70);

-- Null in changes that were not folded yet when quarters began to be counted.
ALTER TABLE order_tally_changes ADD COLUMN quarter_at timestamptz(0);

CREATE OR REPLACE FUNCTION tally_order(counted orders, sign integer) RETURNS void
    LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO order_tally_changes (book_id, day, quarter_at, status, payment_status, channel,
        payment_method, service_mode, store_id, is_automated, is_fulfilled, recorded_by_id,
        served_by_id, academic_term_id, tag_ids, orders, total_amount, remaining_amount)
    VALUES (counted.book_id, (counted.occurred_at AT TIME ZONE 'UTC')::date,
        date_bin('15 minutes', counted.occurred_at, '2001-01-01Z'), counted.status,
        counted.payment_status, counted.channel, counted.payment_method, counted.service_mode,
        counted.store_id, counted.is_automated, counted.channel_fulfilled_at IS NOT NULL,
        counted.recorded_by_id, counted.served_by_id, counted.academic_term_id, counted.tag_ids,
        sign, sign * counted.total_amount, sign * counted.remaining_amount);
END $$;

INSERT INTO sales_by_quarter_hour (book_id, quarter_at, store_id, total_amount)
SELECT book_id, date_bin('15 minutes', occurred_at, '2001-01-01Z'), store_id, sum(total_amount)
FROM orders WHERE deleted_at IS NULL AND status <> 'cancelled'
GROUP BY 1, 2, 3;

-- How many transactions there are of each kind: a list's total, and the days of its pages.
CREATE TABLE transaction_tallies (
    book_id uuid NOT NULL,
    -- In UTC; null in the sums over all days.
    day date,
    type text NOT NULL,
    status text NOT NULL,
    method text NOT NULL,
    store_id uuid,
    transactions bigint NOT NULL,
    amount numeric NOT NULL,
    CONSTRAINT transaction_tallies_kind_key
        UNIQUE NULLS NOT DISTINCT (book_id, day, type, status, method, store_id)
) WITH (fillfactor = 70);

CREATE TABLE transaction_tally_changes (
    book_id uuid NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    day date NOT NULL,
    type text NOT NULL,
    status text NOT NULL,
    method text NOT NULL,
    store_id uuid,
    transactions bigint NOT NULL,
    amount numeric NOT NULL,
    PRIMARY KEY (book_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- By the statement, not by the row: orders are recorded many at a time.
CREATE FUNCTION tally_transactions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO transaction_tally_changes
            (book_id, day, type, status, method, store_id, transactions, amount)
        SELECT book_id, (happened_at AT TIME ZONE 'UTC')::date, type, status, method, store_id,
            -count(*), -sum(amount)
        FROM replaced GROUP BY 1, 2, 3, 4, 5, 6;
    END IF;
    INSERT INTO transaction_tally_changes
        (book_id, day, type, status, method, store_id, transactions, amount)
    SELECT book_id, (happened_at AT TIME ZONE 'UTC')::date, type, status, method, store_id,
        count(*), sum(amount)
    FROM written GROUP BY 1, 2, 3, 4, 5, 6;
    RETURN NULL;
END $$;
CREATE TRIGGER transactions_are_tallied AFTER INSERT ON transactions
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION tally_transactions();
CREATE TRIGGER transactions_are_tallied_again AFTER UPDATE ON transactions
    REFERENCING OLD TABLE AS replaced NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION tally_transactions();

INSERT INTO transaction_tallies
    (book_id, day, type, status, method, store_id, transactions, amount)
SELECT book_id, d.day, type, status, method, store_id, count(*), sum(amount)
FROM transactions,
    LATERAL (VALUES ((happened_at AT TIME ZONE 'UTC')::date), (NULL)) AS d (day)
GROUP BY 1, 2, 3, 4, 5, 6;

-- A search reads the beginning of a reference.
ALTER TABLE transactions ALTER COLUMN reference TYPE text COLLATE "C";

-- Debts by status: what is owed in all, beside how many they are.
ALTER TABLE debt_tallies ADD COLUMN balance numeric NOT NULL DEFAULT 0;
INSERT INTO debt_tallies (book_id, status, slot, debts, balance)
SELECT d.book_id, d.status, 0, 0, sum(d.balance)
FROM debts d JOIN books k ON k.id = d.book_id GROUP BY 1, 2
ON CONFLICT (book_id, status, slot) DO UPDATE SET balance = excluded.balance;

CREATE OR REPLACE FUNCTION tally_debt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO debt_tallies (book_id, status, slot, debts, balance)
        VALUES (OLD.book_id, OLD.status, pg_backend_pid() % 64, -1, -OLD.balance)
        ON CONFLICT (book_id, status, slot) DO UPDATE
            SET debts = debt_tallies.debts - 1, balance = debt_tallies.balance - OLD.balance;
    END IF;
    INSERT INTO debt_tallies (book_id, status, slot, debts, balance)
    VALUES (NEW.book_id, NEW.status, pg_backend_pid() % 64, 1, NEW.balance)
    ON CONFLICT (book_id, status, slot) DO UPDATE
        SET debts = debt_tallies.debts + 1, balance = debt_tallies.balance + NEW.balance;
    RETURN NULL;
END $$;
DROP TRIGGER debts_are_tallied_again ON debts;
CREATE TRIGGER debts_are_tallied_again AFTER UPDATE ON debts
    FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.balance <> NEW.balance)
    EXECUTE FUNCTION tally_debt();

-- What customers have to come, in all; a slot per connection, so that two seldom wait.
CREATE TABLE customer_credit_tallies (
    book_id uuid NOT NULL,
    slot integer NOT NULL,
    credit numeric NOT NULL,
    PRIMARY KEY (book_id, slot)
) WITH (fillfactor = 50);
INSERT INTO customer_credit_tallies (book_id, slot, credit)
SELECT book_id, 0, sum(credits - debits) FROM ledger_balances
WHERE kind = 'customer_credit' GROUP BY book_id;

CREATE FUNCTION tally_customer_credit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    more numeric := NEW.credits - NEW.debits;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        more := more - (OLD.credits - OLD.debits);
    END IF;
    INSERT INTO customer_credit_tallies (book_id, slot, credit)
    VALUES (NEW.book_id, pg_backend_pid() % 64, more)
    ON CONFLICT (book_id, slot) DO UPDATE SET credit = customer_credit_tallies.credit + more;
    RETURN NULL;
END $$;
CREATE TRIGGER customer_credit_is_tallied AFTER INSERT OR UPDATE ON ledger_balances
    FOR EACH ROW WHEN (NEW.kind = 'customer_credit') EXECUTE FUNCTION tally_customer_credit();

-- Expenses of a time, without a look at anything else.
CREATE INDEX transactions_of_expenses ON transactions (book_id, happened_at)
    INCLUDE (amount, store_id) WHERE type = 'expense' AND status = 'successful';

-- Money that the business spends.
CREATE TABLE expenses (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    category text NOT NULL,
    description text,
    method transaction_method NOT NULL,
    store_id uuid,
    transaction_id uuid NOT NULL,
    transfer_id uuid NOT NULL,
    recorded_by_id uuid NOT NULL,
    recorded_by_name text NOT NULL,
    happened_at timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL,
    -- Taken back: its transfer is reversed.
    voided_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, store_id) REFERENCES stores (book_id, id),
    FOREIGN KEY (book_id, transaction_id) REFERENCES transactions (book_id, id),
    FOREIGN KEY (book_id, transfer_id) REFERENCES ledger_transfers (book_id, id)
);
CREATE INDEX expenses_by_time ON expenses (book_id, happened_at, id);
CREATE INDEX expenses_by_transaction ON expenses (book_id, transaction_id);

-- What a receipt of a transaction says, kept as it was.
CREATE TABLE transaction_receipts (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    transaction_id uuid NOT NULL,
    number integer NOT NULL,
    content text NOT NULL,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    CONSTRAINT transaction_receipts_number_key UNIQUE (book_id, transaction_id, number),
    FOREIGN KEY (book_id, transaction_id) REFERENCES transactions (book_id, id)
);
-- An address names no book.
CREATE UNIQUE INDEX transaction_receipts_id_key ON transaction_receipts (id);
