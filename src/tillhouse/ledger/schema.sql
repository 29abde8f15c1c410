-- Vocabularies and bounds of what every order writes are domains, whose checks are made ready once
-- in a session; a table's own checks are made ready by each statement.
CREATE DOMAIN ledger_account_kind AS text CONSTRAINT ledger_account_kind_known CHECK (VALUE IN (
    'wallet', 'wallet_funding', 'provider_clearing', 'fees', 'unapplied_receipts',
    'customer_credit', 'receivable', 'sales', 'tips', 'cash', 'pos', 'bank', 'other_tender',
    'expenses', 'refunds', 'disputes', 'withdrawals_in_transit', 'opening'));

CREATE DOMAIN transaction_type AS text CONSTRAINT transaction_type_known CHECK (VALUE IN (
    'sale', 'debt_payment', 'wallet_deposit', 'wallet_withdrawal', 'refund', 'reversal', 'fee',
    'expense', 'credit', 'adjustment', 'tip', 'change'));

CREATE DOMAIN transaction_status AS text CONSTRAINT transaction_status_known CHECK (VALUE IN (
    'pending', 'processing', 'successful', 'failed', 'reversed'));

CREATE DOMAIN transaction_method AS text CONSTRAINT transaction_method_known CHECK (VALUE IN (
    'cash', 'transfer', 'pos', 'cloove_pay', 'card', 'credit', 'wallet', 'other'));

CREATE DOMAIN ledger_hold_status AS text CONSTRAINT ledger_hold_status_known CHECK (VALUE IN (
    'pending', 'posted', 'released'));

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
    CONSTRAINT ledger_transfers_reversed_once UNIQUE (book_id, reverses_id),
    CONSTRAINT ledger_transfers_between_two
        CHECK ((debit_kind, debit_owner) <> (credit_kind, credit_owner)),
    FOREIGN KEY (book_id, debit_kind, debit_owner, currency)
        REFERENCES ledger_accounts (book_id, kind, owner_id, currency),
    FOREIGN KEY (book_id, credit_kind, credit_owner, currency)
        REFERENCES ledger_accounts (book_id, kind, owner_id, currency),
    FOREIGN KEY (book_id, reverses_id) REFERENCES ledger_transfers (book_id, id),
    CONSTRAINT ledger_transfers_once
    UNIQUE (book_id, source_id, source_type, kind, sequence)
);
-- The entries of an account that it was debited with.
CREATE INDEX ledger_transfers_by_debit
    ON ledger_transfers (book_id, debit_kind, debit_owner, id);
-- The entries of an account that it was credited with.
CREATE INDEX ledger_transfers_by_credit
    ON ledger_transfers (book_id, credit_kind, credit_owner, id);
-- Entries of a kind are found by an index. Every sale makes a `sale` and a `payment`, which are
-- near wherever one looks: they are no part of it, so that a sale pays nothing for it.
CREATE INDEX ledger_transfers_by_kind ON ledger_transfers (book_id, kind, id)
    WHERE kind NOT IN ('sale', 'payment');
-- Entries of the books are read by the day on which money moved.
CREATE INDEX ledger_transfers_by_moment ON ledger_transfers (book_id, happened_at, id);

-- Balances of accounts that must not fall below zero, kept in the transaction of each transfer;
-- all others are the sum of their transfers. Both counters only ever grow.
CREATE TABLE ledger_balances (
    book_id uuid NOT NULL,
    kind text NOT NULL,
    owner_id uuid NOT NULL,
    debits numeric NOT NULL DEFAULT 0,
    credits numeric NOT NULL DEFAULT 0,
    -- A part of a balance that is spoken for: still there, and no longer available.
    held numeric NOT NULL DEFAULT 0,
    PRIMARY KEY (book_id, kind, owner_id),
    FOREIGN KEY (book_id, kind, owner_id) REFERENCES ledger_accounts (book_id, kind, owner_id),
    CONSTRAINT ledger_balances_counters CHECK (debits >= 0 AND held >= 0),
    -- Two names for one rule, since each is told in its own words.
    CONSTRAINT ledger_balances_not_below_zero
        CHECK (kind = 'wallet' OR credits >= debits + held),
    CONSTRAINT ledger_wallets_not_below_zero
        CHECK (kind <> 'wallet' OR credits >= debits + held)
) WITH (fillfactor = 50);

-- A movement of money as the business sees it.
CREATE TABLE transactions (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    reference text COLLATE "C" NOT NULL,
    type transaction_type NOT NULL,
    status transaction_status NOT NULL,
    method transaction_method NOT NULL,
    -- Negative for a correction of what was recorded as received.
    amount signed_amount NOT NULL,
    currency text NOT NULL,
    source_id uuid NOT NULL,
    customer_id uuid,
    store_id uuid,
    happened_at timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    source_type text NOT NULL,
    -- Money of a stay is told when it comes in. That it pays an order of the stay later is told by
    -- the order, and no transaction of the list: it would be told twice.
    is_told boolean NOT NULL DEFAULT true,
    PRIMARY KEY (book_id, id),
    CONSTRAINT transactions_reference_key UNIQUE (book_id, reference)
);
-- The list of transactions, the latest first.
CREATE INDEX transactions_by_time ON transactions (book_id, happened_at, id);
-- The transactions of a customer.
CREATE INDEX transactions_by_customer
    ON transactions (book_id, customer_id, happened_at) WHERE customer_id IS NOT NULL;
-- The transactions of an order, an expense or another source.
CREATE INDEX transactions_by_source ON transactions (book_id, source_id);
-- Expenses of a time, without a look at anything else.
CREATE INDEX transactions_of_expenses ON transactions (book_id, happened_at)
    INCLUDE (amount, store_id) WHERE type = 'expense' AND status = 'successful';
-- Summaries add fees and disputes up by day from the index alone.
CREATE INDEX transactions_of_fees_and_disputes ON transactions (book_id, happened_at)
    INCLUDE (type, amount, store_id)
    WHERE status = 'successful' AND (type = 'fee' OR type = 'reversal' AND source_type = 'dispute');

-- What customers owe, each debt with the order or stay that it comes from.
CREATE TABLE debts (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    source_id uuid NOT NULL,
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
    source_type text NOT NULL,
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, customer_id) REFERENCES customers (book_id, id)
);
-- The debts of a customer.
CREATE INDEX debts_by_customer ON debts (book_id, customer_id, opened_at, id);
-- The list of debts in one state.
CREATE INDEX debts_by_status ON debts (book_id, status, opened_at, id);
-- The list of debts, the latest first.
CREATE INDEX debts_by_time ON debts (book_id, opened_at, id);
-- The debts of an order or a stay.
CREATE INDEX debts_by_source ON debts (book_id, source_id, opened_at, id);
-- An order or a stay has one active debt.
CREATE UNIQUE INDEX debts_one_active_per_source ON debts (book_id, source_id, source_type)
    WHERE status = 'active';

-- An amount of a bounded account that waits for its outcome: it is posted, wholly or in part, or
-- released. It ends once, and is kept.
CREATE TABLE ledger_holds (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    account_kind text NOT NULL,
    account_owner uuid NOT NULL,
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    kind text NOT NULL,
    source_type text NOT NULL,
    source_id uuid NOT NULL,
    sequence integer NOT NULL,
    status ledger_hold_status NOT NULL,
    -- The transfer that it became.
    transfer_id uuid,
    -- From then on it counts as released, and is at the next opportunity.
    expires_at timestamptz(3),
    created_at timestamptz(3) NOT NULL,
    ended_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    CONSTRAINT ledger_holds_once UNIQUE (book_id, source_id, source_type, kind, sequence),
    CONSTRAINT ledger_holds_posted_once UNIQUE (book_id, transfer_id),
    CONSTRAINT ledger_holds_end CHECK ((status = 'pending') = (ended_at IS NULL)
        AND (status = 'posted') = (transfer_id IS NOT NULL)),
    FOREIGN KEY (book_id, account_kind, account_owner, currency)
        REFERENCES ledger_accounts (book_id, kind, owner_id, currency),
    FOREIGN KEY (book_id, transfer_id) REFERENCES ledger_transfers (book_id, id)
);
-- The open holds of an account.
CREATE INDEX ledger_holds_pending ON ledger_holds (book_id, account_kind, account_owner)
    WHERE status = 'pending';
-- Holds whose time is over are released.
CREATE INDEX ledger_holds_to_expire ON ledger_holds (expires_at, id)
    WHERE status = 'pending' AND expires_at IS NOT NULL;

-- Debits and credits of each account, so that a trial balance of years reads few entries: an hourly
-- chore sums up each day (in UTC, of booking) that is over. A day or a quarter of an hour is that
-- of the moment at which money moved. Writes pay nothing for it.
CREATE TABLE ledger_sums (
    book_id uuid NOT NULL,
    period text NOT NULL CONSTRAINT ledger_sums_period_known CHECK (period IN ('quarter', 'day')),
    began_at timestamptz(0) NOT NULL,
    account_kind text NOT NULL,
    currency text NOT NULL,
    debits numeric NOT NULL,
    credits numeric NOT NULL,
    CONSTRAINT ledger_sums_pkey PRIMARY KEY (book_id, period, began_at, account_kind, currency)
) WITH (fillfactor = 70);

-- Entries booked before the end of this day are part of the sums.
CREATE TABLE ledger_summed_days (
    book_id uuid NOT NULL,
    day date NOT NULL,
    CONSTRAINT ledger_summed_days_pkey PRIMARY KEY (book_id)
);

-- Transfers are never changed, counters of balances only grow, and a hold ends once.
CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is only added to' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER ledger_transfers_stay BEFORE UPDATE OR DELETE ON ledger_transfers
    FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_transfers_are_kept BEFORE TRUNCATE ON ledger_transfers
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_balances_only_grow BEFORE UPDATE ON ledger_balances
    FOR EACH ROW WHEN (NEW.debits < OLD.debits OR NEW.credits < OLD.credits
        OR (NEW.book_id, NEW.kind, NEW.owner_id) <> (OLD.book_id, OLD.kind, OLD.owner_id))
    EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_balances_stay BEFORE DELETE ON ledger_balances
    FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_holds_end_once BEFORE UPDATE ON ledger_holds
    FOR EACH ROW WHEN (OLD.status <> 'pending' OR NEW.status = 'pending'
        OR (NEW.book_id, NEW.id, NEW.account_kind, NEW.account_owner, NEW.amount, NEW.currency,
            NEW.kind, NEW.source_type, NEW.source_id, NEW.sequence)
        <> (OLD.book_id, OLD.id, OLD.account_kind, OLD.account_owner, OLD.amount, OLD.currency,
            OLD.kind, OLD.source_type, OLD.source_id, OLD.sequence))
    EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_holds_stay BEFORE DELETE ON ledger_holds
    FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_holds_are_kept BEFORE TRUNCATE ON ledger_holds
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

-- Whether the books are closed at a moment. The row of the book is shared, so a closing waits.
CREATE FUNCTION is_closed(book uuid, moment timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    ends timestamptz;
BEGIN
    -- Read with its lock, so that a closing that was waited for is seen.
    SELECT closed_until INTO ends FROM books WHERE id = book FOR SHARE;
    RETURN coalesce(moment < ends, false);
END $$;

-- What is told of a closed period late is booked at the moment at which it is told.
CREATE FUNCTION booked_at(book uuid, moment timestamptz, told_at timestamptz)
    RETURNS timestamptz LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE WHEN is_closed(book, moment) THEN told_at ELSE moment END;
END $$;
