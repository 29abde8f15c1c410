-- A payment link of a stay closes as soon as the stay asks for nothing, however that came about.

-- The amount that a stay asked for before a change: when its deposit was so much larger, so much
-- less had come in, and so much more was owed for its orders.
CREATE FUNCTION asked_of_stay_before(book uuid, stay uuid, deposit numeric, came numeric,
    owed numeric) RETURNS numeric LANGUAGE sql STABLE AS $$
    WITH held AS (
        SELECT o.id, o.customer_id, CASE WHEN o.deleted_at IS NULL
                AND o.status IN ('pending', 'completed') THEN o.remaining_amount ELSE 0 END AS owed,
            coalesce((SELECT sum(u.amount) FROM folio_uses u
                WHERE u.book_id = book AND u.reservation_id = stay AND u.order_id = o.id), 0)
                AS used,
            o.credit_amount - CASE
                WHEN o.deleted_at IS NOT NULL OR o.status = 'cancelled'
                    THEN o.amount_paid - o.change_amount
                WHEN o.status = 'scheduled' THEN 0
                ELSE greatest(o.amount_paid - o.total_amount + o.refunded_amount, 0)
                    - o.change_amount END AS needed
        FROM orders o WHERE o.book_id = book AND o.hotel_reservation_id = stay
    ), paid AS (
        SELECT coalesce(sum(CASE WHEN p.kind = 'payment' THEN p.amount ELSE -p.amount END), 0)
            - came AS amount
        FROM (
            SELECT m.kind, m.amount FROM folio_payments m
            WHERE m.book_id = book AND m.reservation_id = stay
            UNION ALL
            SELECT 'returning', b.amount FROM folio_returns b
            WHERE b.book_id = book AND b.reservation_id = stay AND b.status = 'pending'
        ) p
    )
    SELECT greatest(0,
        CASE WHEN r.status IN ('booked', 'checked_in')
            THEN r.deposit_amount + deposit - paid.amount END,
        coalesce((SELECT sum(h.owed) FROM held h WHERE h.customer_id = g.customer_id), 0)
            + owed - paid.amount
            + coalesce((SELECT sum(greatest(least(h.used, h.needed), 0)) FROM held h), 0))
    FROM hotel_reservations r
    JOIN hotel_guests g ON g.book_id = r.book_id AND g.id = r.guest_id
    CROSS JOIN paid
    WHERE r.book_id = book AND r.id = stay
$$;
CREATE OR REPLACE FUNCTION asked_of_stay(book uuid, stay uuid)
RETURNS numeric LANGUAGE sql STABLE AS $$
    SELECT asked_of_stay_before(book, stay, 0, 0, 0)
$$;

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

-- Links of stays that were settled before.
UPDATE payment_links l SET status = 'PAID', updated_at = now()
WHERE l.target_type = 'reservation' AND l.status = 'active'
    AND asked_of_stay(l.book_id, l.target_id) = 0;
