-- Payment links: what somebody is asked to pay, and under which address.
CREATE TABLE payment_links (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    -- Its address: it can't be guessed, and names no book.
    reference text COLLATE "C" NOT NULL,
    target_type text NOT NULL,
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
    CONSTRAINT payment_links_received CHECK (amount_received >= 0 AND payments_count >= 0),
    FOREIGN KEY (book_id, order_id) REFERENCES orders (book_id, id),
    FOREIGN KEY (book_id, customer_id) REFERENCES customers (book_id, id),
    CONSTRAINT payment_links_target_type_known
        CHECK (target_type IN ('sale', 'debt', 'wallet', 'reservation')),
    CONSTRAINT payment_links_targets
        CHECK ((target_type = 'wallet') = (target_id IS NULL)
            AND (target_type IN ('wallet', 'reservation')) = (order_id IS NULL))
) WITH (fillfactor = 85);
-- An order, a debt or a stay has one active link at a time.
CREATE UNIQUE INDEX payment_links_one_active ON payment_links (book_id, target_id, target_type)
    WHERE status = 'active' AND target_id IS NOT NULL;
-- A request that is sent again finds the link that it made.
CREATE UNIQUE INDEX payment_links_idempotency_key ON payment_links (book_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
-- The list of links, the latest first, and its counts.
CREATE INDEX payment_links_by_time ON payment_links (book_id, created_at, id)
    INCLUDE (status, target_type, expires_at);
-- The list of links in one state.
CREATE INDEX payment_links_by_status ON payment_links (book_id, status, created_at, id);
-- The list of links for one type of target.
CREATE INDEX payment_links_by_type ON payment_links (book_id, target_type, created_at, id);
-- The links of an order, a debt or a stay.
CREATE INDEX payment_links_by_target ON payment_links (book_id, target_id, created_at, id)
    WHERE target_id IS NOT NULL;
-- The links of a customer.
CREATE INDEX payment_links_by_customer ON payment_links (book_id, customer_id, created_at, id)
    WHERE customer_id IS NOT NULL;
-- The worker that expires links asks for those of all books.
CREATE INDEX payment_links_to_expire ON payment_links (expires_at)
    WHERE status = 'active' AND expires_at IS NOT NULL;
-- Lists count links that are active by their row and over by the clock.
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

-- How many links there are by state and type is counted with each change.
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

-- A debt that is settled has nothing to pay: its links close.
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

-- A payment link of a stay ends with it: of a cancelled one, a no-show, and at check-out.
CREATE FUNCTION close_links_of_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE payment_links SET updated_at = NEW.updated_at,
        status = CASE WHEN NEW.status = 'checked_out' AND asked_of_stay(NEW.book_id, NEW.id) = 0
            THEN 'PAID' ELSE 'CANCELLED' END
    WHERE book_id = NEW.book_id AND target_id = NEW.id AND target_type = 'reservation'
        AND status = 'active';
    RETURN NULL;
END $$;
CREATE TRIGGER payment_links_close_with_stays AFTER UPDATE OF status ON hotel_reservations
    FOR EACH ROW WHEN (OLD.status IN ('booked', 'checked_in')
        AND NEW.status IN ('cancelled', 'no_show', 'checked_out'))
    EXECUTE FUNCTION close_links_of_stay();

-- The link is locked before the sums are read: of two changes that together leave nothing to be
-- asked for, the second one sees the first. It asked for `before`, unless that isn't known.
CREATE FUNCTION close_link_of_settled_stay(book uuid, stay uuid, at timestamptz, ended text,
    deposit numeric, came numeric, owed numeric) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    before numeric;
BEGIN
    PERFORM FROM payment_links l WHERE l.book_id = book AND l.target_id = stay
        AND l.target_type = 'reservation' AND l.status = 'active' FOR NO KEY UPDATE;
    IF NOT FOUND OR asked_of_stay(book, stay) > 0 THEN
        RETURN;
    END IF;
    before := asked_of_stay_before(book, stay, deposit, came, owed);
    UPDATE payment_links l SET status = ended, updated_at = at,
        amount = CASE WHEN before > 0 THEN before ELSE l.amount END
    WHERE l.book_id = book AND l.target_id = stay AND l.target_type = 'reservation'
        AND l.status = 'active';
END $$;

-- All of these wait for the commit: in between, an order is paid by money of its stay that still
-- counts as unspent.
CREATE FUNCTION close_links_of_paid_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM close_link_of_settled_stay(NEW.book_id, NEW.reservation_id, NEW.created_at, 'PAID',
        0, NEW.amount, 0);
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER payment_links_close_with_paid_stays AFTER INSERT ON folio_payments
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.kind = 'payment')
    EXECUTE FUNCTION close_links_of_paid_stay();

-- A refund that failed leaves its money with the stay.
CREATE FUNCTION close_links_of_kept_deposit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM close_link_of_settled_stay(NEW.book_id, NEW.reservation_id,
        coalesce(NEW.ended_at, NEW.created_at), 'PAID', 0, NEW.amount, 0);
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER payment_links_close_with_kept_deposits AFTER UPDATE ON folio_returns
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.status = 'pending' AND NEW.status <> 'pending')
    EXECUTE FUNCTION close_links_of_kept_deposit();

-- A deposit that was lowered may be covered already: its links close.
CREATE FUNCTION close_links_of_smaller_deposit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM close_link_of_settled_stay(NEW.book_id, NEW.id, NEW.updated_at, 'PAID',
        OLD.deposit_amount - NEW.deposit_amount, 0, 0);
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER payment_links_close_with_deposits AFTER UPDATE ON hotel_reservations
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.deposit_amount < OLD.deposit_amount)
    EXECUTE FUNCTION close_links_of_smaller_deposit();

-- An order that is paid leaves the link paid; one that goes away, or to another customer, leaves
-- it cancelled, as its own link.
CREATE FUNCTION close_links_of_charged_stay() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    is_gone boolean := NEW.deleted_at IS NOT NULL
        OR NEW.status NOT IN ('pending', 'completed')
        OR NEW.customer_id IS DISTINCT FROM OLD.customer_id;
    owed numeric := CASE WHEN OLD.deleted_at IS NULL AND OLD.status IN ('pending', 'completed')
        THEN OLD.remaining_amount ELSE 0 END;
BEGIN
    PERFORM close_link_of_settled_stay(NEW.book_id, NEW.hotel_reservation_id, NEW.updated_at,
        CASE WHEN is_gone THEN 'CANCELLED' ELSE 'PAID' END, 0, 0,
        owed - CASE WHEN is_gone THEN 0 ELSE NEW.remaining_amount END);
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER payment_links_close_with_charges AFTER UPDATE ON orders
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.hotel_reservation_id IS NOT NULL
        AND (NEW.remaining_amount < OLD.remaining_amount OR NEW.total_amount < OLD.total_amount
            OR NEW.refunded_amount > OLD.refunded_amount OR NEW.status <> OLD.status
            OR (NEW.deleted_at IS NULL) <> (OLD.deleted_at IS NULL)
            OR NEW.customer_id IS DISTINCT FROM OLD.customer_id))
    EXECUTE FUNCTION close_links_of_charged_stay();
