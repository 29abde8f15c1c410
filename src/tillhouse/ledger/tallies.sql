-- How many debts of each status a book has is the sum of its slots: who changes one writes the
-- slots of the own connection, so that hardly anybody waits for another and no list counts.
CREATE TABLE debt_tallies (
    book_id uuid NOT NULL REFERENCES books,
    status text NOT NULL,
    slot integer NOT NULL,
    debts bigint NOT NULL,
    -- Debts by status: what is owed in all, beside how many they are.
    balance numeric NOT NULL DEFAULT 0,
    PRIMARY KEY (book_id, status, slot)
) WITH (fillfactor = 50);

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

-- Changes of the tallies of transactions, until a worker folds them into one row each.
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

-- What customers have to come, in all; a slot per connection, so that two seldom wait.
CREATE TABLE customer_credit_tallies (
    book_id uuid NOT NULL,
    slot integer NOT NULL,
    credit numeric NOT NULL,
    PRIMARY KEY (book_id, slot)
) WITH (fillfactor = 50);

-- What transfers moved on some accounts, by the moment in the world: debits less credits. Costs
-- are those whose other side is an expense or a fee.
CREATE TABLE ledger_tally_changes (
    book_id uuid NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    account_kind text NOT NULL,
    is_cost boolean NOT NULL,
    quarter_at timestamptz(0) NOT NULL,
    store_id uuid,
    amount numeric NOT NULL,
    PRIMARY KEY (book_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- Sums of transfers by kind of account and period, for summaries and charts.
CREATE TABLE ledger_tallies (
    book_id uuid NOT NULL,
    account_kind text NOT NULL,
    is_cost boolean NOT NULL,
    period text NOT NULL CONSTRAINT ledger_tallies_period_known
        CHECK (period IN ('quarter', 'hour')),
    -- When the quarter of an hour, or the hour, began in UTC.
    began_at timestamptz(0) NOT NULL,
    store_id uuid,
    amount numeric NOT NULL,
    CONSTRAINT ledger_tallies_kind_key
        UNIQUE NULLS NOT DISTINCT (book_id, account_kind, is_cost, period, began_at, store_id)
) WITH (fillfactor = 70);

-- How many debts there are, and what is owed, is counted with each change.
CREATE FUNCTION tally_debt() RETURNS trigger LANGUAGE plpgsql AS $$
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
-- A debt begins and ends as active, so that row is taken first by everybody: no two wait crosswise.
CREATE TRIGGER debts_are_tallied AFTER INSERT ON debts
    FOR EACH ROW EXECUTE FUNCTION tally_debt();
CREATE TRIGGER debts_are_tallied_again AFTER UPDATE ON debts
    FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.balance <> NEW.balance)
    EXECUTE FUNCTION tally_debt();

-- By the statement, not by the row: orders are recorded many at a time.
CREATE FUNCTION tally_transactions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO transaction_tally_changes
            (book_id, day, type, status, method, store_id, transactions, amount)
        SELECT book_id, (happened_at AT TIME ZONE 'UTC')::date, type, status, method, store_id,
            -count(*), -sum(amount)
        FROM replaced WHERE is_told GROUP BY 1, 2, 3, 4, 5, 6;
    END IF;
    INSERT INTO transaction_tally_changes
        (book_id, day, type, status, method, store_id, transactions, amount)
    SELECT book_id, (happened_at AT TIME ZONE 'UTC')::date, type, status, method, store_id,
        count(*), sum(amount)
    FROM written WHERE is_told GROUP BY 1, 2, 3, 4, 5, 6;
    RETURN NULL;
END $$;
CREATE TRIGGER transactions_are_tallied AFTER INSERT ON transactions
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION tally_transactions();
CREATE TRIGGER transactions_are_tallied_again AFTER UPDATE ON transactions
    REFERENCING OLD TABLE AS replaced NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION tally_transactions();

-- What customers hold as credit is added up with each change of a balance.
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
