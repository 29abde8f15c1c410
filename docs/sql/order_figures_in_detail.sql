-- Figures of people, terms and tags as well.
-- src/tillhouse/orders/listing/store/figures.py: find_figures_in_detail
--   $1 book_id uuid
--   $2 store_id uuid
--   $3 now timestamptz
PREPARE order_figures_in_detail (uuid, uuid, timestamptz) AS
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
whole AS (
    SELECT coalesce(sum(w.orders), 0)::bigint AS total_orders,
        coalesce(sum(w.orders) FILTER (WHERE w.status = 'pending'), 0)::bigint
            AS pending_orders_count
    FROM (
        SELECT t.status, t.orders FROM order_totals t WHERE t.book_id = $1
        UNION ALL
        SELECT c.status, c.orders FROM order_tally_changes c WHERE c.book_id = $1
    ) w
),
today AS (
    SELECT coalesce(sum(o.sign * o.orders)
            FILTER (WHERE o.status <> 'cancelled'), 0)::bigint AS today_orders,
        coalesce(sum(o.sign * o.total_amount)
            FILTER (WHERE o.status IN ('pending', 'completed', 'refunded')), 0)
            AS today_revenue
    FROM (
        SELECT r.*, 1 AS sign, 1 AS orders,
            r.channel_fulfilled_at IS NOT NULL AS is_fulfilled
        FROM orders r
        WHERE r.book_id = $1 AND r.deleted_at IS NULL
            AND r.occurred_at >= (SELECT begins FROM day)
            AND r.occurred_at < (SELECT ends FROM day)
        -- First the day, then what fits: a day is little, whatever else is asked.
        OFFSET 0) o
    WHERE true
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
    FROM (SELECT o.status, sum(o.orders) AS orders, sum(o.total_amount) AS total_amount,
        sum(o.remaining_amount) FILTER (WHERE o.status = 'pending') AS remaining_amount,
        sum(o.refunded_amount) AS refunded_amount, sum(o.paid_by_cash) AS paid_by_cash,
        sum(o.paid_by_transfer) AS paid_by_transfer, sum(o.paid_by_pos) AS paid_by_pos,
        sum(o.paid_by_cloove_pay) AS paid_by_cloove_pay, sum(o.paid_by_credit) AS paid_by_credit,
        sum(o.paid_by_other) AS paid_by_other FROM (SELECT t.status, t.payment_status, t.channel,
        t.payment_methods, t.service_mode, t.store_id, t.is_automated, t.is_fulfilled, t.orders,
        t.total_amount, t.remaining_amount, t.refunded_amount, t.paid_by_cash, t.paid_by_transfer,
        t.paid_by_pos, t.paid_by_cloove_pay, t.paid_by_credit, t.paid_by_other, t.recorded_by_id,
        t.served_by_id, t.academic_term_id, t.tag_ids FROM order_tallies_in_detail t WHERE t.book_id
        = $1 AND t.day IS NULL UNION ALL SELECT t.status, t.payment_status, t.channel,
        t.payment_methods, t.service_mode, t.store_id, t.is_automated, t.is_fulfilled, t.orders,
        t.total_amount, t.remaining_amount, t.refunded_amount, t.paid_by_cash, t.paid_by_transfer,
        t.paid_by_pos, t.paid_by_cloove_pay, t.paid_by_credit, t.paid_by_other, t.recorded_by_id,
        t.served_by_id, t.academic_term_id, t.tag_ids FROM order_tally_changes t WHERE t.book_id =
        $1
    ) o WHERE true GROUP BY 1) o) SELECT *, (SELECT currency FROM zone) AS currency FROM whole,
        today, fitting;
