-- The newest page, without filters.
-- src/tillhouse/orders/listing/store/page.py: list_newest
--   $1 book_id uuid
--   $2 limit int8
--   $3 offset int8
PREPARE order_list (uuid, int8, int8) AS
SELECT * FROM (SELECT w.*, coalesce(sum(coalesce(pg_column_size(w.items), 0) +
    coalesce(pg_column_size(w.payments), 0) + coalesce(pg_column_size(w.refunds), 0)) OVER (), 0) AS
    page_bytes FROM (
    SELECT o.id, o.short_code, o.status, o.payment_status, o.summary, o.total_amount,
        o.subtotal_amount, o.discount_amount, o.service_charge_amount, o.tax_amount,
        o.adjustment_amount, o.amount_paid, o.remaining_amount, o.change_amount, o.refunded_amount,
        o.tip_amount, o.currency, o.payment_method, o.channel, iso(o.channel_fulfilled_at) AS
        channel_fulfilled_at, o.is_automated, iso(o.scheduled_confirmed_at) AS
        scheduled_confirmed_at, o.service_mode, o.table_session_id, o.table_label, o.covers,
        o.notes, o.cancellation, o.promotion_id, o.hotel_reservation_id, o.hotel_room_id,
        iso(o.occurred_at) AS occurred_at, iso(o.created_at) AS created_at, iso(o.updated_at) AS
        updated_at, o.entry_source, o.recovery_session_id,
        (SELECT json_agg(i) FROM (
            SELECT i.id AS "id", i.line_type AS "lineType", i.product_id AS "productId",
                i.variant_id AS "variantId", i.product_name AS "productName", i.variant_name AS
                "variantName", i.quantity AS "quantity", i.unit_price AS "unitPrice",
                i.original_unit_price AS "originalUnitPrice", i.discount_amount AS "discountAmount",
                i.subtotal_amount AS "subtotalAmount", i.tax_amount AS "taxAmount", i.total_price AS
                "totalPrice", i.image_url AS "imageUrl", i.modifiers AS "modifiers", i.components AS
                "components"
            FROM order_items i WHERE i.book_id = o.book_id AND i.order_id = o.id
            ORDER BY i.position) i) AS items,
        (SELECT json_agg(p) FROM (
            SELECT p.id, p.kind, p.amount, p.method, p.status, p.reference,
                p.tip_amount AS tip, p.change_amount AS "changeAmount",
                p.transaction_id AS "transactionId",
                CASE WHEN i.id IS NOT NULL THEN json_build_object('provider', i.provider,
                    'currency', i.currency, 'gross', i.amount, 'fee', i.fee,
                    'net', i.amount - i.fee, 'feeReturned', i.returned_fee)
                END AS "providerMoney", iso(p.happened_at) AS at,
                json_build_object('id', p.recorded_by_id, 'name', p.recorded_by_name) AS by
            FROM payments p
            LEFT JOIN payins i ON i.book_id = o.book_id AND i.id = p.receipt_id
            WHERE p.book_id = o.book_id AND p.order_id = o.id
            ORDER BY p.id) p) AS payments,
        (SELECT json_agg(f) FROM (
            SELECT f.id, f.amount, f.method, f.status, f.reason, f.restocked,
                coalesce(f.lines, '[]') AS lines, f.payment_id AS "paymentId",
                f.provider, f.provider_refund_id AS "providerRefundId",
                f.withdrawal_id AS "withdrawalId", f.failure_reason AS "failureReason",
                f.transaction_id AS "transactionId", iso(f.happened_at) AS at,
                json_build_object('id', f.recorded_by_id, 'name', f.recorded_by_name) AS by
            FROM refunds f WHERE f.book_id = o.book_id AND f.order_id = o.id
            ORDER BY f.id) f) AS refunds,
        (SELECT json_agg(d) FROM (
            SELECT d.id, d.status, d.amount, d.taken_amount AS "takenAmount",
                d.fee, iso(d.evidence_due_at) AS "evidenceDueBy", iso(d.opened_at) AS "openedAt"
            FROM disputes d WHERE d.book_id = o.book_id AND d.order_id = o.id
            ORDER BY d.id) d) AS disputes,
        (SELECT json_build_object('id', c.id, 'name', c.name, 'phoneNumber', c.phone_number,
                'whatsappNumber', c.whatsapp_number)
            FROM customers c WHERE c.book_id = o.book_id AND c.id = o.customer_id) AS customer,
        (SELECT json_build_object('id', s.id, 'name', s.name)
            FROM stores s WHERE s.book_id = o.book_id AND s.id = o.store_id) AS store,
        CASE WHEN o.is_automated THEN (
            SELECT json_build_object('id', v.id, 'provider', v.provider,
                'status', CASE
                    WHEN v.status = 'opening' THEN 'pending'
                    WHEN p.received >= v.amount THEN 'paid'
                    WHEN p.received = 0 AND p.has_reversed THEN 'reversed'
                    WHEN v.status = 'open' AND (v.expires_at IS NULL OR v.expires_at > now())
                        THEN 'active'
                    WHEN v.status = 'failed' THEN 'pending'
                    ELSE 'expired' END,
                'accountNumber', v.account_number, 'bankName', v.bank_name,
                'accountName', v.account_name, 'amount', v.amount,
                'amountReceived', p.received, 'currency', v.currency,
                'expiresAt', iso(v.expires_at), 'createdAt', iso(v.created_at))
            FROM virtual_accounts v
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(i.amount - i.returned_amount)
                        FILTER (WHERE i.status = 'received'), 0) AS received,
                    coalesce(bool_or(i.returned_amount > 0), false) AS has_reversed
                FROM payins i WHERE i.book_id = v.book_id AND i.virtual_account_id = v.id
            ) p
            WHERE v.book_id = o.book_id AND v.order_id = o.id
            ORDER BY v.created_at DESC, v.id DESC LIMIT 1
        ) END AS deposit,
        iso(o.scheduled_at) AS scheduled_for, k.id AS kitchen_ticket_id,
        k.status AS kitchen_ticket_status,
        json_build_object('id', o.recorded_by_id, 'name', o.recorded_by_name) AS recorded_by,
        (SELECT json_build_object('id', u.id, 'name', u.name)
            FROM users u WHERE u.id = o.served_by_id) AS served_by,
        CASE WHEN o.tag_ids <> '{}' THEN
            (SELECT json_agg(json_build_object('id', t.id, 'name', t.name, 'slug', t.slug)
                    ORDER BY t.name, t.id)
                FROM tags t WHERE t.book_id = o.book_id AND t.id = ANY(o.tag_ids))
        END AS tags,
        iso(o.occurred_at) AS date,
        (SELECT json_build_object('id', a.id, 'name', a.name) FROM academic_terms a
            WHERE a.book_id = o.book_id AND a.id = o.academic_term_id) AS academic_term,
        r.id AS receipt_id, r.created_at AS receipt_made_at
    FROM orders o
    LEFT JOIN kitchen_tickets k
        ON k.book_id = o.book_id AND k.order_id = o.id AND k.station = 'kitchen'
    LEFT JOIN LATERAL (SELECT r.id, r.created_at FROM receipts r
        WHERE r.book_id = o.book_id AND r.order_id = o.id ORDER BY r.number DESC LIMIT 1) r ON true
JOIN (SELECT o.id FROM (SELECT o.* FROM (
    SELECT r.*, r.channel_fulfilled_at IS NOT NULL AS is_fulfilled FROM orders r
    WHERE r.book_id = $1 AND r.deleted_at IS NULL
) o WHERE true ORDER BY o.occurred_at DESC, o.id DESC LIMIT 100) o ORDER BY o.occurred_at DESC, o.id
    DESC LIMIT $2 OFFSET $3) page ON page.id = o.id WHERE o.book_id = $1 ORDER BY o.occurred_at
    DESC, o.id DESC LIMIT $2) w) w WHERE w.page_bytes <= 8388608;
