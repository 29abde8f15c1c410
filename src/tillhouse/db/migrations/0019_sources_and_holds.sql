-- Money moves for a source of any type, of which an order is one; amounts can be held.

-- The same is never posted twice for one source, whatever its type.
ALTER TABLE ledger_transfers DROP CONSTRAINT ledger_transfers_once;
ALTER TABLE ledger_transfers ADD CONSTRAINT ledger_transfers_once
    UNIQUE (book_id, source_id, source_type, kind, sequence);

-- Until now every transaction and every debt was an order's.
ALTER TABLE transactions RENAME COLUMN order_id TO source_id;
ALTER TABLE transactions ALTER COLUMN source_id SET NOT NULL;
ALTER TABLE transactions ADD COLUMN source_type text NOT NULL DEFAULT 'order';
ALTER TABLE transactions ALTER COLUMN source_type DROP DEFAULT;
ALTER INDEX transactions_by_order RENAME TO transactions_by_source;

ALTER TABLE debts RENAME COLUMN order_id TO source_id;
ALTER TABLE debts ADD COLUMN source_type text NOT NULL DEFAULT 'order';
ALTER TABLE debts ALTER COLUMN source_type DROP DEFAULT;
ALTER INDEX debts_by_order RENAME TO debts_by_source;
DROP INDEX debts_one_active_per_order;
CREATE UNIQUE INDEX debts_one_active_per_source ON debts (book_id, source_id, source_type)
    WHERE status = 'active';

-- A part of a balance that is spoken for: still there, and no longer available.
ALTER TABLE ledger_balances ADD COLUMN held numeric NOT NULL DEFAULT 0;
ALTER TABLE ledger_balances DROP CONSTRAINT ledger_balances_not_below_zero;
ALTER TABLE ledger_balances
    ADD CONSTRAINT ledger_balances_counters CHECK (debits >= 0 AND held >= 0),
    -- Two names for one rule, since each is told in its own words.
    ADD CONSTRAINT ledger_balances_not_below_zero
        CHECK (kind = 'wallet' OR credits >= debits + held),
    ADD CONSTRAINT ledger_wallets_not_below_zero
        CHECK (kind <> 'wallet' OR credits >= debits + held);
CREATE TRIGGER ledger_balances_only_grow BEFORE UPDATE ON ledger_balances
    FOR EACH ROW WHEN (NEW.debits < OLD.debits OR NEW.credits < OLD.credits
        OR (NEW.book_id, NEW.kind, NEW.owner_id) <> (OLD.book_id, OLD.kind, OLD.owner_id))
    EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_balances_stay BEFORE DELETE ON ledger_balances
    FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();

CREATE DOMAIN ledger_hold_status AS text CONSTRAINT ledger_hold_status_known CHECK (VALUE IN (
    'pending', 'posted', 'released'));

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
CREATE INDEX ledger_holds_pending ON ledger_holds (book_id, account_kind, account_owner)
    WHERE status = 'pending';
CREATE INDEX ledger_holds_to_expire ON ledger_holds (expires_at, id)
    WHERE status = 'pending' AND expires_at IS NOT NULL;

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
