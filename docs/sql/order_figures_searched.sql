-- Figures of what a search finds.
-- src/tillhouse/orders/listing/store/figures.py: find_figures_of_found
--   $1 book_id uuid
--   $2 store_id uuid
--   $3 now timestamptz
--   $4 words text
--   $5 code text
PREPARE order_figures_searched (uuid, uuid, timestamptz, text, text) AS
WITH
buyers AS (
    SELECT c.id FROM customers c
    WHERE c.book_id = $1 AND customer_words(c.book_id, c.name) @@ customer_query($1, $4)
), zone AS (
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
        sum(o.paid_by_other) AS paid_by_other FROM (SELECT 1 AS orders, s.* FROM (SELECT * FROM
        (SELECT o.id, o.occurred_at, o.status, o.payment_status, o.channel, o.payment_methods,
        o.service_mode, o.store_id, o.is_automated, o.channel_fulfilled_at IS NOT NULL AS
        is_fulfilled, o.recorded_by_id, o.served_by_id, o.academic_term_id, o.tag_ids,
        o.customer_id, o.table_session_id, o.short_code, o.scheduled_at, o.total_amount,
        o.remaining_amount, o.refunded_amount, o.paid_by_cash, o.paid_by_transfer, o.paid_by_pos,
        o.paid_by_cloove_pay, o.paid_by_credit, o.paid_by_other
FROM orders o
WHERE o.book_id = $1 AND o.customer_id = ANY(ARRAY(SELECT id FROM buyers))
    AND o.deleted_at IS NULL OFFSET 0) f UNION ALL SELECT * FROM (SELECT o.id, o.occurred_at,
        o.status, o.payment_status, o.channel, o.payment_methods, o.service_mode, o.store_id,
        o.is_automated, o.channel_fulfilled_at IS NOT NULL AS is_fulfilled, o.recorded_by_id,
        o.served_by_id, o.academic_term_id, o.tag_ids, o.customer_id, o.table_session_id,
        o.short_code, o.scheduled_at, o.total_amount, o.remaining_amount, o.refunded_amount,
        o.paid_by_cash, o.paid_by_transfer, o.paid_by_pos, o.paid_by_cloove_pay, o.paid_by_credit,
        o.paid_by_other
FROM orders o
WHERE o.book_id = $1 AND o.deleted_at IS NULL
    AND (o.customer_id IN (SELECT id FROM buyers)) IS NOT TRUE AND o.short_code >= $5 AND
        o.short_code < $5 || '~' OFFSET 0) f) s
    ) o WHERE true GROUP BY 1) o) SELECT *, (SELECT currency FROM zone) AS currency FROM whole,
        today, fitting;
