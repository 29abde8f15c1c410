-- Money: accounts, transfers between them, what the business sees of it, and debts.

-- Vocabularies and bounds of what every order writes are domains, whose checks are made ready once
-- in a session; a table's own checks are made ready by each statement.
CREATE DOMAIN ledger_account_kind AS text CONSTRAINT ledger_account_kind_known CHECK (VALUE IN (
    'wallet', 'provider_clearing', 'fees', 'unapplied_receipts', 'customer_credit', 'receivable',
    'sales', 'cash', 'pos', 'bank', 'other_tender', 'expenses', 'refunds',
    'withdrawals_in_transit', 'opening'));
CREATE DOMAIN positive_amount AS numeric CONSTRAINT positive_amount_bounds
    CHECK (VALUE > 0 AND VALUE < 1e15);
CREATE DOMAIN signed_amount AS numeric CONSTRAINT signed_amount_bounds
    CHECK (VALUE <> 0 AND VALUE > -1e15 AND VALUE < 1e15);
CREATE DOMAIN transaction_type AS text CONSTRAINT transaction_type_known CHECK (VALUE IN (
    'sale', 'debt_payment', 'wallet_deposit', 'wallet_withdrawal', 'refund', 'reversal', 'fee',
    'expense', 'credit', 'adjustment'));
CREATE DOMAIN transaction_status AS text CONSTRAINT transaction_status_known CHECK (VALUE IN (
    'pending', 'processing', 'successful', 'failed', 'reversed'));
CREATE DOMAIN transaction_method AS text CONSTRAINT transaction_method_known CHECK (VALUE IN (
    'cash', 'transfer', 'pos', 'cloove_pay', 'card', 'credit', 'wallet', 'other'));

-- Who owes whom how much. The one without an owner is the business's own of that kind.
CREATE TABLE ledger_accounts (
    book_id uuid NOT NULL REFERENCES books,
    kind ledger_account_kind NOT NULL,
    owner_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    currency text NOT NULL,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, kind, owner_id),
    CONSTRAINT ledger_accounts_in_currency UNIQUE (book_id, kind, owner_id, currency)
);

-- A transfer takes from one account and gives to another of the same book and currency: every
-- debit is a credit by its very shape. Nothing here is ever changed or removed.
CREATE TABLE ledger_transfers (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    debit_kind text NOT NULL,
    debit_owner uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    credit_kind text NOT NULL,
    credit_owner uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    kind text NOT NULL,
    -- What it was posted for, and the how manieth of that kind: the same is never posted twice.
    source_type text NOT NULL,
    source_id uuid NOT NULL,
    sequence integer NOT NULL,
    reverses_id uuid,
    -- When it happened in the world; created_at is when it was written here.
    happened_at timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    CONSTRAINT ledger_transfers_once UNIQUE (book_id, source_id, kind, sequence),
    CONSTRAINT ledger_transfers_reversed_once UNIQUE (book_id, reverses_id),
    CONSTRAINT ledger_transfers_between_two
        CHECK ((debit_kind, debit_owner) <> (credit_kind, credit_owner)),
    FOREIGN KEY (book_id, debit_kind, debit_owner, currency)
        REFERENCES ledger_accounts (book_id, kind, owner_id, currency),
    FOREIGN KEY (book_id, credit_kind, credit_owner, currency)
        REFERENCES ledger_accounts (book_id, kind, owner_id, currency),
    FOREIGN KEY (book_id, reverses_id) REFERENCES ledger_transfers (book_id, id)
);
CREATE INDEX ledger_transfers_by_debit
    ON ledger_transfers (book_id, debit_kind, debit_owner, id);
CREATE INDEX ledger_transfers_by_credit
    ON ledger_transfers (book_id, credit_kind, credit_owner, id);

CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is only added to' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER ledger_transfers_stay BEFORE UPDATE OR DELETE ON ledger_transfers
    FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_transfers_are_kept BEFORE TRUNCATE ON ledger_transfers
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

-- Balances of accounts that must not fall below zero, kept in the transaction of each transfer;
-- all others are the sum of their transfers. Both counters only ever grow.
CREATE TABLE ledger_balances (
    book_id uuid NOT NULL,
    kind text NOT NULL,
    owner_id uuid NOT NULL,
    debits numeric NOT NULL DEFAULT 0,
    credits numeric NOT NULL DEFAULT 0,
    PRIMARY KEY (book_id, kind, owner_id),
    FOREIGN KEY (book_id, kind, owner_id) REFERENCES ledger_accounts (book_id, kind, owner_id),
    CONSTRAINT ledger_balances_not_below_zero CHECK (credits >= debits AND debits >= 0)
) WITH (fillfactor = 50);

-- A movement of money as the business sees it.
CREATE TABLE transactions (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    reference text NOT NULL,
    type transaction_type NOT NULL,
    status transaction_status NOT NULL,
    method transaction_method NOT NULL,
    -- Negative for a correction of what was recorded as received.
    amount signed_amount NOT NULL,
    currency text NOT NULL,
    order_id uuid,
    customer_id uuid,
    store_id uuid,
    happened_at timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    CONSTRAINT transactions_reference_key UNIQUE (book_id, reference)
);
CREATE INDEX transactions_by_time ON transactions (book_id, happened_at, id);
CREATE INDEX transactions_by_order ON transactions (book_id, order_id);
CREATE INDEX transactions_by_customer
    ON transactions (book_id, customer_id, happened_at) WHERE customer_id IS NOT NULL;

CREATE TABLE debts (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    status text NOT NULL CONSTRAINT debts_status_known
        CHECK (status IN ('active', 'paid', 'voided', 'removed')),
    -- What is still owed: the order's remaining amount while active, else 0.
    balance numeric NOT NULL CONSTRAINT debts_balance_bounds
        CHECK (balance >= 0 AND (balance > 0) = (status = 'active')),
    currency text NOT NULL,
    opened_at timestamptz(3) NOT NULL,
    closed_at timestamptz(3),
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, customer_id) REFERENCES customers (book_id, id)
);
CREATE UNIQUE INDEX debts_one_active_per_order ON debts (book_id, order_id)
    WHERE status = 'active';
CREATE INDEX debts_by_order ON debts (book_id, order_id, opened_at, id);
CREATE INDEX debts_by_customer ON debts (book_id, customer_id, opened_at, id);
CREATE INDEX debts_by_status ON debts (book_id, status, opened_at, id);
CREATE INDEX debts_by_time ON debts (book_id, opened_at, id);

-- How many debts of each status a book has is the sum of its slots: who changes one writes the
-- slots of the own connection, so that hardly anybody waits for another and no list counts.
CREATE TABLE debt_tallies (
    book_id uuid NOT NULL REFERENCES books,
    status text NOT NULL,
    slot integer NOT NULL,
    debts bigint NOT NULL,
    PRIMARY KEY (book_id, status, slot)
) WITH (fillfactor = 50);

CREATE FUNCTION tally_debt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO debt_tallies (book_id, status, slot, debts)
        VALUES (OLD.book_id, OLD.status, pg_backend_pid() % 64, -1)
        ON CONFLICT (book_id, status, slot) DO UPDATE SET debts = debt_tallies.debts - 1;
    END IF;
    INSERT INTO debt_tallies (book_id, status, slot, debts)
    VALUES (NEW.book_id, NEW.status, pg_backend_pid() % 64, 1)
    ON CONFLICT (book_id, status, slot) DO UPDATE SET debts = debt_tallies.debts + 1;
    RETURN NULL;
END $$;
-- A debt begins and ends as active, so that row is taken first by everybody: no two wait crosswise.
CREATE TRIGGER debts_are_tallied AFTER INSERT ON debts
    FOR EACH ROW EXECUTE FUNCTION tally_debt();
CREATE TRIGGER debts_are_tallied_again AFTER UPDATE ON debts
    FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION tally_debt();
