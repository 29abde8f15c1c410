CREATE DOMAIN withdrawal_status AS text CONSTRAINT withdrawal_status_known CHECK (VALUE IN (
    'requested', 'processing', 'completed', 'failed', 'reversed', 'cancelled'));

-- Money that leaves the wallet: the accounts that it goes to, withdrawals, and their limits.
CREATE TABLE payout_accounts (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    -- Checking until the provider has named the holder.
    status text NOT NULL CONSTRAINT payout_accounts_status_known
        CHECK (status IN ('checking', 'active', 'failed', 'inactive')),
    version integer NOT NULL DEFAULT 1,
    -- Codes of banks are the provider's, so the account stays with it.
    provider text NOT NULL,
    bank_code text NOT NULL,
    bank_name text,
    account_number text NOT NULL,
    account_name text,
    currency text NOT NULL,
    error text,
    -- No withdrawal goes there before.
    usable_at timestamptz(3),
    created_by_id uuid NOT NULL,
    created_by_name text NOT NULL,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    CONSTRAINT payout_accounts_have_a_name CHECK (status <> 'active' OR
        (account_name IS NOT NULL AND usable_at IS NOT NULL))
);
-- An account of a bank is there once, unless it was removed.
CREATE UNIQUE INDEX payout_accounts_once
    ON payout_accounts (book_id, provider, bank_code, account_number)
    WHERE status IN ('checking', 'active');

-- Money that leaves the wallet, from the request to what became of it.
CREATE TABLE withdrawals (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    status withdrawal_status NOT NULL,
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    narration text,
    -- The business's own name of it.
    reference text,
    -- The account as it was when the withdrawal was requested.
    payout_account_id uuid NOT NULL,
    account_version integer NOT NULL,
    provider text NOT NULL,
    bank_code text NOT NULL,
    bank_name text,
    account_number text NOT NULL,
    account_name text NOT NULL,
    -- Ours, in every call about it.
    provider_key text NOT NULL,
    provider_reference text,
    -- Whether a call was begun whose outcome is unknown, and when the last one began.
    is_unclear boolean NOT NULL DEFAULT false,
    asked_at timestamptz(3),
    fee numeric NOT NULL DEFAULT 0 CONSTRAINT withdrawals_fee_bounds CHECK (fee >= 0),
    failure_reason text,
    -- The app whose limits it counts against, and the day; without one only the business's.
    lineage_id uuid,
    counted_on date NOT NULL,
    hold_id uuid NOT NULL,
    transfer_id uuid,
    payout_transfer_id uuid,
    transaction_id uuid,
    idempotency_key text NOT NULL,
    idempotency_fingerprint bytea NOT NULL,
    requested_by_id uuid NOT NULL,
    requested_by_name text NOT NULL,
    sent_at timestamptz(3),
    ended_at timestamptz(3),
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    looked_at timestamptz(3),
    -- A payment that its provider doesn't give back is paid out: by a withdrawal that names its
    -- order.
    order_id uuid,
    -- A payout's fee, and one that completes after it was called failed, leave the wallet as far
    -- as it covers them. The rest is due, and is taken as money comes in.
    fee_due numeric NOT NULL DEFAULT 0,
    amount_due numeric NOT NULL DEFAULT 0,
    PRIMARY KEY (book_id, id),
    CONSTRAINT withdrawals_provider_key UNIQUE (book_id, provider_key),
    CONSTRAINT withdrawals_idempotency_key UNIQUE (book_id, idempotency_key),
    CONSTRAINT withdrawals_are_sent CHECK (status IN ('requested', 'cancelled') OR
        (sent_at IS NOT NULL AND transfer_id IS NOT NULL)),
    FOREIGN KEY (book_id, payout_account_id) REFERENCES payout_accounts (book_id, id),
    FOREIGN KEY (book_id, order_id) REFERENCES orders (book_id, id),
    -- That of a refund is the refund's, which is there once the money is.
    CONSTRAINT withdrawals_have_transactions
        CHECK (transaction_id IS NOT NULL OR order_id IS NOT NULL),
    CONSTRAINT withdrawals_due_bounds
        CHECK (fee_due BETWEEN 0 AND fee AND amount_due BETWEEN 0 AND amount::numeric)
);
-- The list of withdrawals in one state.
CREATE INDEX withdrawals_by_status ON withdrawals (book_id, status, id);
-- The withdrawals to an account.
CREATE INDEX withdrawals_by_account ON withdrawals (book_id, payout_account_id, id);
-- The sum that is under way.
CREATE INDEX withdrawals_open ON withdrawals (book_id, status) INCLUDE (amount)
    WHERE status IN ('requested', 'processing');
-- The sum of a day, which the limits of the book bound.
CREATE INDEX withdrawals_counted ON withdrawals (book_id, created_at) INCLUDE (amount)
    WHERE status IN ('requested', 'processing', 'completed');
-- The sum of a day by the keys of one app, which their limits bound.
CREATE INDEX withdrawals_counted_by_lineage
    ON withdrawals (book_id, lineage_id, created_at) INCLUDE (amount)
    WHERE status IN ('requested', 'processing', 'completed');
-- Fees and amounts that the wallet could not cover yet.
CREATE INDEX withdrawals_due ON withdrawals (book_id, id) WHERE fee_due > 0 OR amount_due > 0;
-- A provider's answer finds its withdrawal in whichever book it is.
CREATE INDEX withdrawals_by_provider_key ON withdrawals (provider_key);

-- The sum that the keys of an app have withdrawn on its latest day; no earlier day comes back.
CREATE TABLE withdrawal_spends (
    book_id uuid NOT NULL REFERENCES books,
    lineage_id uuid NOT NULL,
    day date NOT NULL,
    spent numeric NOT NULL CONSTRAINT withdrawal_spends_bounds CHECK (spent >= 0),
    PRIMARY KEY (book_id, lineage_id)
) WITH (fillfactor = 50);

-- The same of the whole business, its own limit, and whether anything is paid out at all.
CREATE TABLE payout_controls (
    book_id uuid NOT NULL REFERENCES books,
    day date NOT NULL,
    spent numeric NOT NULL CONSTRAINT payout_controls_bounds CHECK (spent >= 0),
    max_per_day numeric,
    frozen_at timestamptz(3),
    frozen_reason text,
    frozen_by text,
    -- Withdrawals that failed one after another.
    failures integer NOT NULL DEFAULT 0,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id)
) WITH (fillfactor = 50);

-- The wallet at the end of a past day is its balance now, less what came since: by whole days.
CREATE TABLE wallet_days (
    book_id uuid NOT NULL,
    -- In UTC; a day without transfers has no row.
    day date NOT NULL,
    -- What the wallet got less what it gave.
    change numeric NOT NULL,
    credits numeric NOT NULL,
    PRIMARY KEY (book_id, day)
);

-- A refund that is paid out names its withdrawal.
ALTER TABLE refunds ADD FOREIGN KEY (book_id, withdrawal_id) REFERENCES withdrawals (book_id, id);
