-- Since 0.1.0: the totals of a book, which every list of orders, count and summary reads. Of kinds
-- there may be thousands.

-- A process of the version before can fold no more from here on: it would leave the totals out.
-- Changes wait until it is restarted, and are counted meanwhile as they are.
ALTER TABLE order_tallies RENAME CONSTRAINT order_tallies_kind_key TO order_tallies_by_kind_key;

-- How many orders there are over all time, and what they come to: tallies by few of their kinds.
CREATE TABLE order_totals (
    book_id uuid NOT NULL,
    status text NOT NULL,
    payment_status text NOT NULL,
    store_id uuid,
    orders bigint NOT NULL,
    total_amount numeric NOT NULL,
    remaining_amount numeric NOT NULL,
    paid_by_cash numeric NOT NULL,
    paid_by_transfer numeric NOT NULL,
    paid_by_pos numeric NOT NULL,
    paid_by_cloove_pay numeric NOT NULL,
    paid_by_credit numeric NOT NULL,
    paid_by_other numeric NOT NULL,
    refunded_amount numeric NOT NULL,
    CONSTRAINT order_totals_key
        UNIQUE NULLS NOT DISTINCT (book_id, status, payment_status, store_id)
) WITH (fillfactor = 70);

INSERT INTO order_totals (book_id, status, payment_status, store_id, orders, total_amount,
    remaining_amount, paid_by_cash, paid_by_transfer, paid_by_pos, paid_by_cloove_pay,
    paid_by_credit, paid_by_other, refunded_amount)
SELECT t.book_id, t.status, t.payment_status, t.store_id, sum(t.orders), sum(t.total_amount),
    sum(t.remaining_amount), sum(t.paid_by_cash), sum(t.paid_by_transfer), sum(t.paid_by_pos),
    sum(t.paid_by_cloove_pay), sum(t.paid_by_credit), sum(t.paid_by_other), sum(t.refunded_amount)
FROM order_tallies t WHERE t.period = 'ever' GROUP BY 1, 2, 3, 4;
