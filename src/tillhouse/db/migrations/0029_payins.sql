-- Money that comes in by payment providers.

ALTER DOMAIN ledger_account_kind DROP CONSTRAINT ledger_account_kind_known;
ALTER DOMAIN ledger_account_kind ADD CONSTRAINT ledger_account_kind_known CHECK (VALUE IN (
    'wallet', 'wallet_funding', 'provider_clearing', 'fees', 'unapplied_receipts',
    'customer_credit', 'receivable', 'sales', 'tips', 'cash', 'pos', 'bank', 'other_tender',
    'expenses', 'refunds', 'withdrawals_in_transit', 'opening'));
ALTER DOMAIN transaction_type DROP CONSTRAINT transaction_type_known;
ALTER DOMAIN transaction_type ADD CONSTRAINT transaction_type_known CHECK (VALUE IN (
    'sale', 'debt_payment', 'wallet_deposit', 'wallet_withdrawal', 'refund', 'reversal', 'fee',
    'expense', 'credit', 'adjustment', 'tip'));

-- A provider that a book has connected; its secrets are sealed for this row.
CREATE TABLE payment_providers (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    provider text NOT NULL CONSTRAINT payment_providers_known
        CHECK (provider IN ('sandbox', 'paystack', 'flutterwave', 'monnify', 'stripe')),
    is_selected boolean NOT NULL,
    credentials_sealed bytea,
    -- The last letters of its first secret, by which people know it again.
    hint text,
    -- It failed lately, so that new accounts are opened elsewhere until then.
    down_until timestamptz(3),
    last_error text,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    CONSTRAINT payment_providers_once UNIQUE (book_id, provider)
);

-- An account, or a page of a provider's, that one target (a payment link, an order) is paid into.
CREATE TABLE virtual_accounts (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    target_type text NOT NULL,
    target_id uuid NOT NULL,
    provider text NOT NULL,
    -- Ours, in every call about it: it can't be guessed.
    reference text NOT NULL,
    status text NOT NULL CONSTRAINT virtual_accounts_status_known
        CHECK (status IN ('opening', 'open', 'failed', 'closed')),
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    provider_reference text,
    account_number text,
    bank_name text,
    account_name text,
    url text,
    error text,
    -- From then on it counts as closed; what arrives later is booked all the same.
    expires_at timestamptz(3),
    -- When the provider was asked last for what was paid.
    asked_at timestamptz(3),
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    CONSTRAINT virtual_accounts_reference_key UNIQUE (book_id, reference)
);
CREATE UNIQUE INDEX virtual_accounts_one_open ON virtual_accounts (book_id, target_type, target_id)
    WHERE status IN ('opening', 'open');
CREATE INDEX virtual_accounts_by_target
    ON virtual_accounts (book_id, target_type, target_id, created_at);
CREATE INDEX virtual_accounts_by_number ON virtual_accounts (book_id, provider, account_number)
    WHERE account_number IS NOT NULL;

-- What a provider has told, stored before it was answered.
CREATE TABLE provider_events (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    provider text NOT NULL,
    -- SHA-256 of the body: the same told twice is one row.
    fingerprint bytea NOT NULL,
    body bytea NOT NULL,
    received_at timestamptz(3) NOT NULL,
    processed_at timestamptz(3),
    -- What came of it, for people.
    outcome text,
    PRIMARY KEY (book_id, id),
    CONSTRAINT provider_events_once UNIQUE (book_id, provider, fingerprint)
);
CREATE INDEX provider_events_by_time ON provider_events (received_at);

-- Money that arrived: each of the provider's payments once.
CREATE TABLE payins (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    provider text NOT NULL,
    provider_transaction_id text NOT NULL,
    status text NOT NULL CONSTRAINT payins_status_known
        CHECK (status IN ('received', 'reversed')),
    -- Without one nobody knows what it is for: it is kept as an unapplied receipt.
    virtual_account_id uuid,
    target_type text,
    target_id uuid,
    amount positive_amount NOT NULL,
    fee numeric NOT NULL CONSTRAINT payins_fee_bounds CHECK (fee >= 0 AND fee <= amount),
    currency text NOT NULL,
    payer_name text,
    paid_at timestamptz(3) NOT NULL,
    -- When its target took it; a reversal is applied likewise.
    applied_at timestamptz(3),
    reversed_at timestamptz(3),
    reversal_applied_at timestamptz(3),
    -- Partial, over, late, twice, unknown, other_currency: how it did not fit, if it did not.
    conditions text[] NOT NULL DEFAULT '{}',
    transaction_id uuid,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    CONSTRAINT payins_once UNIQUE (book_id, provider, provider_transaction_id),
    FOREIGN KEY (book_id, virtual_account_id) REFERENCES virtual_accounts (book_id, id)
);
CREATE INDEX payins_by_target ON payins (book_id, target_type, target_id, paid_at);
CREATE INDEX payins_by_time ON payins (book_id, paid_at, id);
CREATE INDEX payins_to_apply ON payins (book_id, target_type, target_id)
    WHERE applied_at IS NULL OR (status = 'reversed' AND reversal_applied_at IS NULL);
