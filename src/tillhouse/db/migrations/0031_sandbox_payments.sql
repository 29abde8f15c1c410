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
CREATE INDEX sandbox_payments_by_number ON sandbox_payments (book_id, account_number, paid_at);

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
    PRIMARY KEY (book_id, reference)
);

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
CREATE INDEX sandbox_refunds_of_payment ON sandbox_refunds (book_id, payment_id);
