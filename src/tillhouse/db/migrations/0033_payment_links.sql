-- Payment links: what somebody is asked to pay, and under which address.

CREATE TABLE payment_links (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    -- Its address: it can't be guessed, and names no book.
    reference text COLLATE "C" NOT NULL,
    target_type text NOT NULL CONSTRAINT payment_links_target_type_known
        CHECK (target_type IN ('sale', 'debt', 'wallet')),
    -- The order or the debt; null for the wallet.
    target_id uuid,
    -- The order whose money it collects: the target, or what the debt is for.
    order_id uuid,
    title text,
    -- Of the wallet: what is to be paid. Else: what the target owed when the link was made or
    -- closed; while it is active, the target itself says how much.
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    customer_id uuid,
    customer_name text,
    customer_email text,
    customer_phone text,
    description text NOT NULL,
    redirect_url text,
    status text NOT NULL CONSTRAINT payment_links_status_known
        CHECK (status IN ('active', 'PAID', 'EXPIRED', 'CANCELLED')),
    is_reusable boolean NOT NULL DEFAULT false,
    is_static boolean NOT NULL DEFAULT false,
    -- It counts as expired from then on, whether or not a sweep has said so in its status.
    expires_at timestamptz(3),
    amount_received numeric NOT NULL DEFAULT 0,
    payments_count integer NOT NULL DEFAULT 0,
    conditions text[] NOT NULL DEFAULT '{}' CONSTRAINT payment_links_conditions_known
        CHECK (conditions <@ '{partial,over,late,reversed}'),
    last_paid_at timestamptz(3),
    idempotency_key text,
    idempotency_fingerprint bytea,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    CONSTRAINT payment_links_reference_key UNIQUE (reference),
    CONSTRAINT payment_links_targets
        CHECK ((target_type = 'wallet') = (target_id IS NULL)
            AND (target_id IS NULL) = (order_id IS NULL)),
    CONSTRAINT payment_links_received CHECK (amount_received >= 0 AND payments_count >= 0),
    FOREIGN KEY (book_id, order_id) REFERENCES orders (book_id, id),
    FOREIGN KEY (book_id, customer_id) REFERENCES customers (book_id, id)
) WITH (fillfactor = 85);
CREATE UNIQUE INDEX payment_links_one_active ON payment_links (book_id, target_id, target_type)
    WHERE status = 'active' AND target_id IS NOT NULL;
CREATE UNIQUE INDEX payment_links_idempotency_key ON payment_links (book_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX payment_links_by_time ON payment_links (book_id, created_at, id)
    INCLUDE (status, target_type, expires_at);
CREATE INDEX payment_links_by_status ON payment_links (book_id, status, created_at, id);
CREATE INDEX payment_links_by_type ON payment_links (book_id, target_type, created_at, id);
CREATE INDEX payment_links_by_target ON payment_links (book_id, target_id, created_at, id)
    WHERE target_id IS NOT NULL;
CREATE INDEX payment_links_by_customer ON payment_links (book_id, customer_id, created_at, id)
    WHERE customer_id IS NOT NULL;
CREATE INDEX payment_links_to_expire ON payment_links (expires_at)
    WHERE status = 'active' AND expires_at IS NOT NULL;
CREATE INDEX payment_links_expiring ON payment_links (book_id, expires_at)
    WHERE status = 'active' AND expires_at IS NOT NULL;

-- A search finds words of what it is for and of whom it is for.
CREATE INDEX payment_links_by_word ON payment_links USING gin (customer_words(book_id,
    coalesce(customer_name, '') || ' ' || coalesce(title, '') || ' ' || description));

-- How many there are of each kind on each day: a list's total, without counting its rows. A slot
-- per connection, so that two seldom wait.
CREATE TABLE payment_link_tallies (
    book_id uuid NOT NULL,
    -- In UTC.
    day date NOT NULL,
    status text NOT NULL,
    target_type text NOT NULL,
    slot integer NOT NULL,
    links bigint NOT NULL,
    PRIMARY KEY (book_id, day, status, target_type, slot)
) WITH (fillfactor = 50);

CREATE FUNCTION tally_payment_link() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    made_on date := (NEW.created_at AT TIME ZONE 'UTC')::date;
    own integer := pg_backend_pid() % 8;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO payment_link_tallies (book_id, day, status, target_type, slot, links)
        VALUES (OLD.book_id, made_on, OLD.status, OLD.target_type, own, -1)
        ON CONFLICT (book_id, day, status, target_type, slot)
            DO UPDATE SET links = payment_link_tallies.links - 1;
    END IF;
    INSERT INTO payment_link_tallies (book_id, day, status, target_type, slot, links)
    VALUES (NEW.book_id, made_on, NEW.status, NEW.target_type, own, 1)
    ON CONFLICT (book_id, day, status, target_type, slot)
        DO UPDATE SET links = payment_link_tallies.links + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER payment_links_are_tallied AFTER INSERT ON payment_links
    FOR EACH ROW EXECUTE FUNCTION tally_payment_link();
CREATE TRIGGER payment_links_are_tallied_again AFTER UPDATE ON payment_links
    FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION tally_payment_link();

-- A link closes with its target, in the transaction that pays or ends it, whichever way that is:
-- no read has to ask, and no payer is asked for what nobody owes.
CREATE FUNCTION close_links_of_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE payment_links SET updated_at = NEW.updated_at, amount = CASE
            WHEN OLD.remaining_amount > 0 THEN OLD.remaining_amount ELSE amount END,
        status = CASE WHEN NEW.deleted_at IS NULL AND NEW.status NOT IN ('cancelled', 'refunded')
            THEN 'PAID' ELSE 'CANCELLED' END
    WHERE book_id = NEW.book_id AND target_id = NEW.id AND target_type = 'sale'
        AND status = 'active';
    RETURN NULL;
END $$;
CREATE TRIGGER payment_links_close_with_orders AFTER UPDATE ON orders
    FOR EACH ROW WHEN (
        (OLD.remaining_amount > 0 AND NEW.remaining_amount = 0)
        OR (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL)
        OR (OLD.status <> NEW.status AND NEW.status IN ('cancelled', 'refunded')))
    EXECUTE FUNCTION close_links_of_order();

CREATE FUNCTION close_links_of_debt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE payment_links SET updated_at = NEW.updated_at, amount = OLD.balance,
        status = CASE WHEN NEW.status = 'paid' THEN 'PAID' ELSE 'CANCELLED' END
    WHERE book_id = NEW.book_id AND target_id = NEW.id AND target_type = 'debt'
        AND status = 'active';
    RETURN NULL;
END $$;
CREATE TRIGGER payment_links_close_with_debts AFTER UPDATE ON debts
    FOR EACH ROW WHEN (OLD.status = 'active' AND NEW.status <> 'active')
    EXECUTE FUNCTION close_links_of_debt();
