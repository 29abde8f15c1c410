-- Figures without filters.
-- src/tillhouse/orders/listing/store/figures.py: find_figures
--   $1 book_id uuid
--   $2 store_id uuid
--   $3 now timestamptz
PREPARE order_figures (uuid, uuid, timestamptz) AS
WITH zone AS (
SELECT b.currency, coalesce(s.time_zone, b.time_zone) AS name,
    make_interval(mins => coalesce(s.day_cutoff_minutes, 0)) AS cutoff
FROM books k JOIN businesses b ON b.id = k.business_id
LEFT JOIN stores s ON s.book_id = $1 AND s.id = $2
WHERE k.id = $1
), day AS (
    SELECT (d.local + z.cutoff) AT TIME ZONE z.name AS begins,
        (d.local + z.cutoff + interval '1 day') AT TIME ZONE z.name AS ends
    FROM zone z,
        LATERAL (SELECT date_trunc('day', ($3::timestamptz AT TIME ZONE z.name) - z.cutoff)
            AS local) d
),
kinds AS MATERIALIZED (
    SELECT o.status, (true) AS is_fitting, sum(o.orders) AS orders, sum(o.total_amount) AS
        total_amount, sum(o.remaining_amount) FILTER (WHERE o.status = 'pending') AS
        remaining_amount, sum(o.refunded_amount) AS refunded_amount, sum(o.paid_by_cash) AS
        paid_by_cash, sum(o.paid_by_transfer) AS paid_by_transfer, sum(o.paid_by_pos) AS
        paid_by_pos, sum(o.paid_by_cloove_pay) AS paid_by_cloove_pay, sum(o.paid_by_credit) AS
        paid_by_credit, sum(o.paid_by_other) AS paid_by_other FROM (SELECT t.status,
        t.payment_status, t.store_id, t.orders, t.total_amount, t.remaining_amount,
        t.refunded_amount, t.paid_by_cash, t.paid_by_transfer, t.paid_by_pos, t.paid_by_cloove_pay,
        t.paid_by_credit, t.paid_by_other FROM order_totals t WHERE t.book_id = $1 UNION ALL SELECT
        t.status, t.payment_status, t.store_id, t.orders, t.total_amount, t.remaining_amount,
        t.refunded_amount, t.paid_by_cash, t.paid_by_transfer, t.paid_by_pos, t.paid_by_cloove_pay,
        t.paid_by_credit, t.paid_by_other FROM order_tally_changes t WHERE t.book_id = $1) o GROUP
        BY 1, 2),
whole AS (
    SELECT coalesce(sum(w.orders), 0)::bigint AS total_orders,
        coalesce(sum(w.orders) FILTER (WHERE w.status = 'pending'), 0)::bigint
            AS pending_orders_count
    FROM (SELECT * FROM kinds) w),
utc AS (
    SELECT d.begins, d.ends, m.midnight, m.midnight + interval '24 hours' AS midnight_after,
        (m.midnight AT TIME ZONE 'UTC')::date AS day
    FROM day d, LATERAL (
        SELECT date_bin('24 hours', d.begins + interval '12 hours', '2001-01-01Z') AS midnight
    ) m
),
today AS (
    SELECT coalesce(sum(o.sign * o.orders)
            FILTER (WHERE o.status <> 'cancelled'), 0)::bigint AS today_orders,
        coalesce(sum(o.sign * o.total_amount)
            FILTER (WHERE o.status IN ('pending', 'completed', 'refunded')), 0)
            AS today_revenue
    FROM (SELECT 1 AS sign, t.status, t.payment_status, t.channel, t.payment_methods,
        t.service_mode, t.store_id, t.is_automated, t.is_fulfilled, t.orders, t.total_amount,
        t.remaining_amount, t.refunded_amount, t.paid_by_cash, t.paid_by_transfer, t.paid_by_pos,
        t.paid_by_cloove_pay, t.paid_by_credit, t.paid_by_other FROM order_tallies t
        WHERE t.book_id = $1 AND t.period = 'day' AND t.day = (SELECT day FROM utc)
        UNION ALL SELECT 1, t.status, t.payment_status, t.channel, t.payment_methods,
            t.service_mode, t.store_id, t.is_automated, t.is_fulfilled, t.orders, t.total_amount,
            t.remaining_amount, t.refunded_amount, t.paid_by_cash, t.paid_by_transfer,
            t.paid_by_pos, t.paid_by_cloove_pay, t.paid_by_credit, t.paid_by_other FROM
            order_tally_changes t
        WHERE t.book_id = $1 AND t.day = (SELECT day FROM utc)
        UNION ALL
        SELECT (SELECT CASE WHEN begins < midnight THEN 1 ELSE -1 END FROM utc), r.status,
            r.payment_status, r.channel, r.payment_methods, r.service_mode, r.store_id,
            r.is_automated, r.channel_fulfilled_at IS NOT NULL AS is_fulfilled, 1 AS orders,
            r.total_amount, r.remaining_amount, r.refunded_amount, r.paid_by_cash,
            r.paid_by_transfer, r.paid_by_pos, r.paid_by_cloove_pay, r.paid_by_credit,
            r.paid_by_other FROM orders r WHERE r.book_id = $1 AND r.deleted_at IS NULL
            AND r.occurred_at >= (SELECT least(begins, midnight) FROM utc)
            AND r.occurred_at < (SELECT greatest(begins, midnight) FROM utc)
        UNION ALL
        SELECT (SELECT CASE WHEN ends > midnight_after THEN 1 ELSE -1 END FROM utc), r.status,
            r.payment_status, r.channel, r.payment_methods, r.service_mode, r.store_id,
            r.is_automated, r.channel_fulfilled_at IS NOT NULL AS is_fulfilled, 1 AS orders,
            r.total_amount, r.remaining_amount, r.refunded_amount, r.paid_by_cash,
            r.paid_by_transfer, r.paid_by_pos, r.paid_by_cloove_pay, r.paid_by_credit,
            r.paid_by_other FROM orders r WHERE r.book_id = $1 AND r.deleted_at IS NULL
            AND r.occurred_at >= (SELECT least(ends, midnight_after) FROM utc)
            AND r.occurred_at < (SELECT greatest(ends, midnight_after) FROM utc)
    ) o WHERE true
), fitting AS (
    SELECT coalesce(sum(o.orders), 0)::bigint AS filtered_orders,
        coalesce(sum(o.total_amount)
            FILTER (WHERE o.status IN ('pending', 'completed', 'refunded')), 0)
            AS total_revenue,
        coalesce(sum(o.orders)
            FILTER (WHERE o.status IN ('pending', 'completed', 'refunded')), 0)::bigint
            AS revenue_orders,
        coalesce(sum(o.refunded_amount)
            FILTER (WHERE o.status IN ('pending', 'completed', 'refunded')), 0)
            AS refunded_amount,
        coalesce(sum(o.remaining_amount) FILTER (WHERE o.status = 'pending'), 0)
            AS pending_outstanding_amount,
        coalesce(sum(o.orders) FILTER (WHERE o.status = 'completed'), 0)::bigint
            AS completed_orders_count,
        coalesce(sum(o.total_amount) FILTER (WHERE o.status IN ('completed', 'refunded')), 0)
            AS completed_revenue,
        coalesce(sum(o.orders) FILTER (WHERE o.status = 'cancelled'), 0)::bigint
            AS cancelled_orders_count,
        coalesce(sum(o.total_amount) FILTER (WHERE o.status = 'cancelled'), 0)
            AS cancelled_revenue,
        coalesce(sum(o.paid_by_cash), 0) AS cash, coalesce(sum(o.paid_by_transfer), 0) AS transfer,
            coalesce(sum(o.paid_by_pos), 0) AS pos, coalesce(sum(o.paid_by_cloove_pay), 0) AS
            cloove_pay, coalesce(sum(o.paid_by_credit), 0) AS credit, coalesce(sum(o.paid_by_other),
            0) AS other
    FROM kinds o WHERE o.is_fitting) SELECT *, (SELECT currency FROM zone) AS currency FROM whole,
        today, fitting;
