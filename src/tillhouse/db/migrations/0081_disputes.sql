-- Disputes (chargebacks): payments that payers' banks want back.

ALTER DOMAIN ledger_account_kind DROP CONSTRAINT ledger_account_kind_known;
ALTER DOMAIN ledger_account_kind ADD CONSTRAINT ledger_account_kind_known CHECK (VALUE IN (
    'wallet', 'wallet_funding', 'provider_clearing', 'fees', 'unapplied_receipts',
    'customer_credit', 'receivable', 'sales', 'tips', 'cash', 'pos', 'bank', 'other_tender',
    'expenses', 'refunds', 'disputes', 'withdrawals_in_transit', 'opening'));

-- What disputes hold of a payment, beside refunds.
ALTER TABLE payins ADD COLUMN disputed_amount numeric NOT NULL DEFAULT 0
    CONSTRAINT payins_disputed_bounds CHECK (disputed_amount >= 0);

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
    PRIMARY KEY (book_id, id),
    CONSTRAINT disputes_once UNIQUE (book_id, provider, provider_dispute_id),
    FOREIGN KEY (book_id, payin_id) REFERENCES payins (book_id, id)
);
CREATE INDEX disputes_by_payment ON disputes (book_id, payin_id);
CREATE INDEX disputes_by_status ON disputes (book_id, status, id);
CREATE INDEX disputes_by_order ON disputes (book_id, order_id, id) WHERE order_id IS NOT NULL;

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
CREATE INDEX sandbox_disputes_by_payment ON sandbox_disputes (book_id, payment_id);
CREATE INDEX sandbox_disputes_by_time ON sandbox_disputes (book_id, created_at, id);
