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
    order_id uuid,
    PRIMARY KEY (book_id, id),
    CONSTRAINT virtual_accounts_reference_key UNIQUE (book_id, reference)
);
-- An order, a debt or a stay has one open account at a time.
CREATE UNIQUE INDEX virtual_accounts_one_open ON virtual_accounts (book_id, target_type, target_id)
    WHERE status IN ('opening', 'open');
-- The accounts of an order, a debt or a stay.
CREATE INDEX virtual_accounts_by_target
    ON virtual_accounts (book_id, target_type, target_id, created_at);
-- Money that arrives finds its account by the number.
CREATE INDEX virtual_accounts_by_number ON virtual_accounts (book_id, provider, account_number)
    WHERE account_number IS NOT NULL;
-- The accounts of an order.
CREATE INDEX virtual_accounts_by_order ON virtual_accounts (book_id, order_id, created_at)
    WHERE order_id IS NOT NULL;
-- Books may share an account of a provider: what its list tells is another book's where that book
-- gave the reference. References are random, so that one names one row of all books.
CREATE INDEX virtual_accounts_by_reference ON virtual_accounts (reference);

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
-- Old events are swept.
CREATE INDEX provider_events_by_time ON provider_events (received_at);
-- What waits of a book is looked up with each hook that comes.
CREATE INDEX provider_events_waiting ON provider_events (book_id) WHERE processed_at IS NULL;

-- Money that arrived: each of the provider's payments once.
CREATE TABLE payins (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    provider text NOT NULL,
    provider_transaction_id text NOT NULL,
    status text NOT NULL CONSTRAINT payins_status_known
        CHECK (status IN ('received', 'reversed')),
    -- Without one its purpose is unknown: it is kept as an unapplied receipt.
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
    -- When its provider was last asked about it on request: not too often.
    asked_at timestamptz(3),
    -- Of refunds of ours that go back through the provider, or went.
    given_back numeric NOT NULL DEFAULT 0
        CONSTRAINT payins_given_back_bounds CHECK (given_back >= 0),
    -- What the provider says that it took back by itself, and what of it is booked: never more
    -- than our refunds leave of the payment.
    returned_told numeric NOT NULL DEFAULT 0,
    returned_amount numeric NOT NULL DEFAULT 0,
    -- The part of its fee that the provider gave back meanwhile.
    returned_fee numeric NOT NULL DEFAULT 0,
    -- What of it the target has given back.
    returned_applied numeric NOT NULL DEFAULT 0,
    returned_at timestamptz(3),
    -- How often something was posted for it since it was received.
    postings integer NOT NULL DEFAULT 0,
    -- What disputes hold of a payment, beside refunds.
    disputed_amount numeric NOT NULL DEFAULT 0
    CONSTRAINT payins_disputed_bounds CHECK (disputed_amount >= 0),
    PRIMARY KEY (book_id, id),
    CONSTRAINT payins_once UNIQUE (book_id, provider, provider_transaction_id),
    FOREIGN KEY (book_id, virtual_account_id) REFERENCES virtual_accounts (book_id, id),
    CONSTRAINT payins_returned_bounds CHECK (returned_amount >= 0
        AND returned_amount <= amount AND returned_amount <= returned_told),
    CONSTRAINT payins_returned_fee_bounds CHECK (returned_fee >= 0 AND returned_fee <= fee),
    CONSTRAINT payins_returned_applied_bounds
        CHECK (returned_applied >= 0 AND returned_applied <= returned_amount)
);
-- The money that arrived for an order, a debt or a stay.
CREATE INDEX payins_by_target ON payins (book_id, target_type, target_id, paid_at);
-- The money that arrived, the latest first.
CREATE INDEX payins_by_time ON payins (book_id, paid_at, id);
-- The money that arrived on an account.
CREATE INDEX payins_by_account ON payins (book_id, virtual_account_id)
    WHERE virtual_account_id IS NOT NULL;
-- A transaction tells through which payment link it came.
CREATE INDEX payins_by_transaction ON payins (book_id, transaction_id)
    WHERE transaction_id IS NOT NULL;
-- A provider's transaction may be several payments; its name is what their names begin with.
CREATE INDEX payins_by_provider_transaction
    ON payins (book_id, provider, split_part(provider_transaction_id, '#', 1));
-- Money that its target has still to take, or to give back.
CREATE INDEX payins_to_apply ON payins (book_id, target_type, target_id)
    WHERE applied_at IS NULL OR returned_applied < returned_amount;

-- What the sandbox provider knows: payments, payouts and refunds of test books.
CREATE TABLE sandbox_payments (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    -- Of the account that was paid into.
    reference text,
    account_number text NOT NULL,
    state text NOT NULL CONSTRAINT sandbox_payments_state_known
        CHECK (state IN ('pending', 'successful', 'failed', 'reversed')),
    amount positive_amount NOT NULL,
    fee numeric NOT NULL,
    currency text NOT NULL,
    payer_name text,
    paid_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id)
);
-- The sandbox's payments to an account.
CREATE INDEX sandbox_payments_by_number ON sandbox_payments (book_id, account_number, paid_at);
-- The sandbox lists what it knows by time, as other providers do.
CREATE INDEX sandbox_payments_by_time ON sandbox_payments (book_id, paid_at, id);

-- Payouts as the sandbox's provider knows them.
CREATE TABLE sandbox_payouts (
    book_id uuid NOT NULL REFERENCES books,
    reference text NOT NULL,
    state text NOT NULL CONSTRAINT sandbox_payouts_state_known
        CHECK (state IN ('processing', 'completed', 'failed', 'reversed')),
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    bank_code text NOT NULL,
    account_number text NOT NULL,
    reason text,
    -- How often it was asked for, which some magic amounts go by.
    asked integer NOT NULL DEFAULT 0,
    created_at timestamptz(3) NOT NULL,
    -- The sandbox takes a fee of some payouts.
    fee numeric NOT NULL DEFAULT 0 CHECK (fee >= 0),
    PRIMARY KEY (book_id, reference)
);
-- The sandbox's payouts in order, as its statement lists them.
CREATE INDEX sandbox_payouts_by_time ON sandbox_payouts (book_id, created_at, reference);

-- Refunds as the sandbox's provider knows them.
CREATE TABLE sandbox_refunds (
    book_id uuid NOT NULL REFERENCES books,
    reference text NOT NULL,
    payment_id uuid NOT NULL,
    state text NOT NULL CONSTRAINT sandbox_refunds_state_known
        CHECK (state IN ('pending', 'successful', 'failed')),
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    reason text,
    asked integer NOT NULL DEFAULT 0,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, reference),
    FOREIGN KEY (book_id, payment_id) REFERENCES sandbox_payments (book_id, id)
);
-- The sandbox's refunds of a payment.
CREATE INDEX sandbox_refunds_of_payment ON sandbox_refunds (book_id, payment_id);
-- The sandbox lists its refunds by time, as it does payments and payouts.
CREATE INDEX sandbox_refunds_by_time ON sandbox_refunds (book_id, created_at, reference);

-- Payments that a payer's bank asks back, with what they hold of the money meanwhile.
CREATE TABLE disputes (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    payin_id uuid NOT NULL,
    -- The order that was paid; null: the payment was for none.
    order_id uuid,
    provider text NOT NULL,
    provider_dispute_id text NOT NULL,
    status text NOT NULL CONSTRAINT disputes_status_known
        CHECK (status IN ('opened', 'evidence_due', 'won', 'lost')),
    reason text,
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    -- What the provider says that it took, and what of it is booked.
    taken_told numeric NOT NULL CONSTRAINT disputes_told_bounds CHECK (taken_told >= 0),
    taken_amount numeric NOT NULL DEFAULT 0
        CONSTRAINT disputes_taken_bounds CHECK (taken_amount >= 0),
    fee numeric NOT NULL DEFAULT 0,
    -- The part of both that the wallet lacked.
    claimed numeric NOT NULL DEFAULT 0 CONSTRAINT disputes_claimed_bounds CHECK (claimed >= 0),
    evidence_due_at timestamptz(3),
    opened_at timestamptz(3) NOT NULL,
    closed_at timestamptz(3),
    postings integer NOT NULL DEFAULT 0,
    -- How many changes were told of.
    changes integer NOT NULL DEFAULT 0,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    -- The credit that a payment had become is held while a dispute has its money.
    credit_hold_id uuid,
    credit_holds integer NOT NULL DEFAULT 0,
    PRIMARY KEY (book_id, id),
    CONSTRAINT disputes_once UNIQUE (book_id, provider, provider_dispute_id),
    FOREIGN KEY (book_id, payin_id) REFERENCES payins (book_id, id),
    CONSTRAINT disputes_credit_hold_fkey
    FOREIGN KEY (book_id, credit_hold_id) REFERENCES ledger_holds (book_id, id)
);
-- The disputes of a payment.
CREATE INDEX disputes_by_payment ON disputes (book_id, payin_id);
-- The list of disputes in one state.
CREATE INDEX disputes_by_status ON disputes (book_id, status, id);
-- The disputes of an order.
CREATE INDEX disputes_by_order ON disputes (book_id, order_id, id) WHERE order_id IS NOT NULL;
-- What a wallet didn't have of a dispute is taken as money comes in.
CREATE INDEX disputes_claimed ON disputes (book_id, id) WHERE claimed > 0;

-- What the sandbox knows of disputes.
CREATE TABLE sandbox_disputes (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    payment_id uuid NOT NULL,
    state text NOT NULL,
    amount numeric NOT NULL,
    fee numeric NOT NULL,
    currency text NOT NULL,
    evidence_due_at timestamptz(3) NOT NULL,
    created_at timestamptz(3) NOT NULL,
    closed_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, payment_id) REFERENCES sandbox_payments (book_id, id)
);
-- The sandbox's disputes of a payment.
CREATE INDEX sandbox_disputes_by_payment ON sandbox_disputes (book_id, payment_id);
-- The sandbox's disputes in order, as its statement lists them.
CREATE INDEX sandbox_disputes_by_time ON sandbox_disputes (book_id, created_at, id);
