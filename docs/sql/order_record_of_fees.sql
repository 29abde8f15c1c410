-- Orders without stock, payment, key, table or ticket.
-- src/tillhouse/orders/recording/store/record_statement.py: insert_orders
--   $1 book_id uuid
--   $2 now timestamptz
--   $3 currency text
--   $4 posting json
--   $5 movement json
--   $6 owing json
--   $7 orders json
--   $8 items json
--   $9 moves json
--   $10 event_ids uuid[]
--   $11 event_types text[]
--   $12 event_payloads text[]
--   $13 event_moments timestamptz[]
--   $14 event_apps uuid[]
--   $15 surfaces text[]
--   $16 keys text[]
--   $17 fingerprints bytea[]
--   $18 answers bytea[]
--   $19 newcomer_ids uuid[]
--   $20 newcomer_names text[]
--   $21 payments json
--   $22 event_entities uuid[]
PREPARE order_record_of_fees (uuid, timestamptz, text, json, json, json, json, json, json, uuid[],
    text[], text[], timestamptz[], uuid[], text[], text[], bytea[], bytea[], uuid[], text[], json,
    uuid[]) AS
WITH
    posting AS (
        SELECT * FROM json_to_recordset($4) AS p (source_id uuid, id uuid, debit_kind text,
            debit_owner uuid, credit_kind text, credit_owner uuid, amount numeric, kind text,
            sequence integer)
    ),
    movement AS (
        SELECT * FROM json_to_recordset($5) AS m (source_id uuid, id uuid, reference text,
            type text, status text, method text, amount numeric)
    ),
    owing AS (
        SELECT * FROM json_to_recordset($6) AS o (source_id uuid, id uuid, customer_id uuid,
            balance numeric, closes text)
    )
, sale AS (
        SELECT * FROM json_to_recordset($7) AS r (id uuid, short_code text, idempotency_key text,
            idempotency_fingerprint bytea, status text, summary text, subtotal_amount numeric,
            discount_amount numeric, service_charge_amount numeric, tax_amount numeric,
            exclusive_tax_amount numeric, total_amount numeric, amount_paid numeric, change_amount
            numeric, credit_amount numeric, payment_method text, customer_id uuid, store_id uuid,
            channel text, scheduled_at timestamptz, service_mode text, table_session_id uuid,
            table_label text, covers integer, academic_term_id uuid, promotion_id uuid,
            promotion_customer_id uuid, tag_ids uuid[], notes text, recorded_by_id uuid,
            recorded_by_name text, served_by_id uuid, entry_source text, wants_kitchen boolean,
            fires_at timestamptz, stock_state text, stock_round integer, postings integer,
            occurred_at timestamptz, created_at timestamptz, hotel_reservation_id uuid,
            hotel_room_id uuid, ticket_id uuid)
    ), source AS (
        SELECT 'order' AS source_type, id AS source_id, customer_id, store_id,
            occurred_at AS happened_at
        FROM sale
    ), moving AS (
        SELECT r.*, 0 AS round, NULL::text AS reason
        FROM json_to_recordset($9) AS r (id uuid, variant_id uuid, store_id uuid, kind text,
            on_hand_change numeric, reserved_change numeric, order_id uuid, order_item_id uuid,
            actor jsonb, allows boolean)
    ), told AS MATERIALIZED (
        SELECT *
        FROM unnest($10::uuid[], $11::text[], $12::text[], $13::timestamptz[], $14::uuid[],
            $22::uuid[]) AS t (id, type, payload, at, app_id, entity_id)
    ), keeping AS (
        SELECT * FROM unnest($15::text[], $16::text[], $17::bytea[], $18::bytea[])
            AS k (surface, key, fingerprint, answer)
    ), newcomer AS (
        SELECT * FROM unnest($19::uuid[], $20::text[]) AS n (id, name)
    ), paying AS (
        SELECT * FROM json_to_recordset($21) AS p (id uuid, order_id uuid, kind text, method text,
            amount numeric, tip_amount numeric, change_amount numeric, reference text,
            transaction_id uuid, link_id uuid, receipt_id uuid, recorded_by_id uuid,
            recorded_by_name text, happened_at timestamptz, created_at timestamptz)),
    placed AS (
        INSERT INTO orders (book_id, currency, updated_at, id, short_code, idempotency_key,
            idempotency_fingerprint, status, summary, subtotal_amount, discount_amount,
            service_charge_amount, tax_amount, exclusive_tax_amount, total_amount, amount_paid,
            change_amount, credit_amount, payment_method, customer_id, store_id, channel,
            scheduled_at, service_mode, table_session_id, table_label, covers, academic_term_id,
            promotion_id, promotion_customer_id, tag_ids, notes, recorded_by_id, recorded_by_name,
            served_by_id, entry_source, wants_kitchen, fires_at, stock_state, stock_round, postings,
            occurred_at, created_at, hotel_reservation_id, hotel_room_id, paid_by_cash,
            paid_by_transfer, paid_by_pos, paid_by_cloove_pay, paid_by_credit, paid_by_other)
        SELECT $1, $3, created_at, id, short_code, idempotency_key, idempotency_fingerprint, status,
            summary, subtotal_amount, discount_amount, service_charge_amount, tax_amount,
            exclusive_tax_amount, total_amount, amount_paid, change_amount, credit_amount,
            payment_method, customer_id, store_id, channel, scheduled_at, service_mode,
            table_session_id, table_label, covers, academic_term_id, promotion_id,
            promotion_customer_id, tag_ids, notes, recorded_by_id, recorded_by_name, served_by_id,
            entry_source, wants_kitchen, fires_at, stock_state, stock_round, postings, occurred_at,
            created_at, hotel_reservation_id, hotel_room_id, CASE payment_method WHEN 'cash' THEN
            paid END, CASE payment_method WHEN 'transfer' THEN paid END, CASE payment_method WHEN
            'pos' THEN paid END, CASE payment_method WHEN 'cloove_pay' THEN paid END, CASE
            payment_method WHEN 'credit' THEN paid END, CASE payment_method WHEN 'other' THEN paid
            END
        FROM sale CROSS JOIN LATERAL (
            SELECT CASE WHEN amount_paid > 0 THEN amount_paid - change_amount END AS paid) AS p
    ), lined AS (
        INSERT INTO order_items (book_id, id, order_id, position, line_type, product_id, variant_id,
            product_name, variant_name, quantity, unit_price, original_unit_price, subtotal_amount,
            discount_amount, tax_amount, tax_rate, total_price, image_url, modifiers, components)
        SELECT $1, r.id, r.order_id, r.position, r.line_type, r.product_id, r.variant_id,
            r.product_name, r.variant_name, r.quantity, r.unit_price, r.original_unit_price,
            r.subtotal_amount, r.discount_amount, r.tax_amount, r.tax_rate, r.total_price,
            r.image_url, r.modifiers, r.components
        FROM json_to_recordset($8) AS r (id uuid, order_id uuid, position integer, line_type text,
            product_id uuid, variant_id uuid, product_name text, variant_name text, quantity
            numeric, unit_price numeric, original_unit_price numeric, subtotal_amount numeric,
            discount_amount numeric, tax_amount numeric, tax_rate numeric, total_price numeric,
            image_url text, modifiers jsonb, components jsonb)
    ),
    wanted AS (
        SELECT variant_id, store_id, sum(on_hand_change) AS on_hand_change,
            sum(reserved_change) AS reserved_change, bool_and(allows) AS allows
        FROM moving
        GROUP BY variant_id, store_id
    ), held AS MATERIALIZED (
        SELECT l.id, l.variant_id, l.store_id, l.on_hand, l.reserved, w.on_hand_change,
            w.reserved_change, w.allows
        FROM wanted w
        JOIN stock_levels l ON l.book_id = $1 AND l.variant_id = w.variant_id
            AND l.store_id IS NOT DISTINCT FROM w.store_id
        ORDER BY l.id
        FOR NO KEY UPDATE OF l
    ), levelled AS (
        UPDATE stock_levels l SET on_hand = l.on_hand + h.on_hand_change,
            reserved = l.reserved + h.reserved_change, updated_at = $2
        FROM held h
        WHERE l.book_id = $1 AND l.id = h.id AND (h.allows
            OR h.on_hand_change >= h.reserved_change
            OR l.on_hand + h.on_hand_change - l.reserved - h.reserved_change >= 0)
        RETURNING l.id, l.variant_id, l.store_id, l.on_hand, l.reserved, h.on_hand_change,
            h.reserved_change
    ), noted AS (
        INSERT INTO stock_moves (book_id, id, variant_id, store_id, kind, on_hand_change,
            reserved_change, order_id, order_item_id, round, reason, actor, created_at)
        SELECT $1, id, variant_id, store_id, kind, on_hand_change, reserved_change, order_id,
            order_item_id, round, reason, actor, $2
        FROM moving
    )
, moved AS MATERIALIZED (
    SELECT w.variant_id, v.product_id, w.store_id, w.on_hand_change, w.reserved_change,
        coalesce(l.on_hand, h.on_hand, 0) AS on_hand,
        coalesce(l.reserved, h.reserved, 0) AS reserved,
        v.low_stock_threshold AS threshold, l.id IS NOT NULL AS is_moved
    FROM wanted w
    -- One by one: a join would read all variants of a small book for a handful.
    CROSS JOIN LATERAL (SELECT v.product_id, v.low_stock_threshold FROM variants v
        WHERE v.book_id = $1 AND v.id = w.variant_id LIMIT 1) v
    LEFT JOIN held h
        ON h.variant_id = w.variant_id AND h.store_id IS NOT DISTINCT FROM w.store_id
    LEFT JOIN levelled l ON l.id = h.id
),
    opened AS (
        INSERT INTO ledger_accounts (book_id, kind, owner_id, currency, created_at)
        SELECT DISTINCT $1::uuid, side.kind, side.owner_id, $3::text, $2::timestamptz
        FROM posting p JOIN source USING (source_id)
        CROSS JOIN LATERAL (VALUES (p.debit_kind, p.debit_owner), (p.credit_kind, p.credit_owner))
            AS side (kind, owner_id)
        ORDER BY 2, 3
        -- Of either unique index: a rival's row may be met in the one that isn't named.
        ON CONFLICT DO NOTHING
    )
,
    posted AS (
        INSERT INTO ledger_transfers (book_id, id, debit_kind, debit_owner, credit_kind,
            credit_owner, amount, currency, kind, source_type, source_id, sequence, happened_at,
            created_at)
        SELECT $1::uuid, p.id, p.debit_kind, p.debit_owner, p.credit_kind, p.credit_owner,
            p.amount, $3::text, p.kind, source.source_type, source_id, p.sequence,
            source.happened_at, $2::timestamptz
        FROM posting p JOIN source USING (source_id)
    )
,
    tallied AS (
        INSERT INTO ledger_tally_changes (book_id, account_kind, is_cost, quarter_at, store_id,
            amount)
        SELECT $1::uuid, side.kind,
            side.other IN ('expenses', 'fees', 'disputes', 'withdrawals_in_transit'),
            date_bin('15 minutes', source.happened_at, '2001-01-01Z'), source.store_id,
            sum(side.amount)
        FROM posting p JOIN source USING (source_id)
        CROSS JOIN LATERAL (VALUES (p.debit_kind, p.debit_owner, p.credit_kind, p.amount),
            (p.credit_kind, p.credit_owner, p.debit_kind, -p.amount))
            AS side (kind, owner_id, other, amount)
        WHERE side.kind IN ('cash', 'bank', 'pos', 'provider_clearing', 'other_tender', 'refunds',
                'tips')
            -- Another currency has an account of its own, which is no part of these sums.
            AND side.owner_id = '00000000-0000-0000-0000-000000000000'
        GROUP BY 2, 3, 4, 5
    )
,
    seen AS (
        INSERT INTO transactions (book_id, id, reference, type, status, method, amount, currency,
            source_type, source_id, customer_id, store_id, happened_at, created_at, updated_at)
        SELECT $1::uuid, m.id, m.reference, m.type, coalesce(m.status, 'successful'), m.method,
            m.amount, $3::text, source.source_type, source_id, source.customer_id,
            source.store_id, source.happened_at, $2::timestamptz, $2::timestamptz
        FROM movement m JOIN source USING (source_id)
    )
,
    turnover AS MATERIALIZED (
        SELECT side.kind, side.owner_id, sum(side.debit) AS debits, sum(side.credit) AS credits
        FROM posting p JOIN source USING (source_id)
        CROSS JOIN LATERAL (VALUES (p.debit_kind, p.debit_owner, p.amount, 0),
            (p.credit_kind, p.credit_owner, 0, p.amount)) AS side (kind, owner_id, debit, credit)
        WHERE side.kind IN ('wallet', 'customer_credit')
        GROUP BY side.kind, side.owner_id
    ),
    bounded AS MATERIALIZED (
        SELECT b.kind, b.owner_id
        FROM turnover t
        JOIN ledger_balances b
            ON b.book_id = $1::uuid AND b.kind = t.kind AND b.owner_id = t.owner_id
        ORDER BY b.kind, b.owner_id
        FOR NO KEY UPDATE OF b
    ),
    drawn AS (
        UPDATE ledger_balances b SET debits = b.debits + t.debits, credits = b.credits + t.credits
        FROM turnover t
        WHERE b.book_id = $1::uuid AND b.kind = t.kind AND b.owner_id = t.owner_id
            AND t.debits > t.credits AND (SELECT count(*) FROM bounded) >= 0
        RETURNING b.kind, b.owner_id
    ),
    -- What would be drawn from a balance that isn't there arrives here, and fails the same check.
    balanced AS (
        INSERT INTO ledger_balances AS b (book_id, kind, owner_id, debits, credits)
        SELECT $1::uuid, t.kind, t.owner_id, t.debits, t.credits
        FROM turnover t
        WHERE (SELECT count(*) FROM bounded) >= 0
            AND (t.kind, t.owner_id) NOT IN (SELECT d.kind, d.owner_id FROM drawn d)
        ORDER BY 2, 3
        ON CONFLICT (book_id, kind, owner_id)
            DO UPDATE SET debits = b.debits + excluded.debits,
                credits = b.credits + excluded.credits
    )
,
    settled AS (
        UPDATE debts d SET status = o.closes, balance = 0, closed_at = $2::timestamptz,
            updated_at = $2::timestamptz
        FROM owing o JOIN source USING (source_id)
        WHERE d.book_id = $1::uuid AND d.source_id = source.source_id
            AND d.source_type = source.source_type AND d.status = 'active'
            AND o.closes IS NOT NULL
        RETURNING d.id
    ),
    owed AS (
        INSERT INTO debts AS d (book_id, id, source_type, source_id, customer_id, status, balance,
            currency, opened_at, updated_at)
        SELECT $1::uuid, o.id, source.source_type, source_id, o.customer_id, 'active', o.balance,
            $3::text, source.happened_at, $2::timestamptz
        FROM owing o JOIN source USING (source_id)
        WHERE o.closes IS NULL AND (SELECT count(*) FROM settled) >= 0
        ON CONFLICT (book_id, source_id, source_type) WHERE status = 'active'
            DO UPDATE SET balance = excluded.balance, updated_at = excluded.updated_at
    )
,
    event AS (
        INSERT INTO webhook_events (book_id, id, type, developer_app_id, payload, entity_id)
        SELECT $1, id, type, app_id, payload, entity_id FROM told
    ), delivery AS (
        INSERT INTO webhook_deliveries (book_id, id, developer_app_id, webhook_endpoint_id,
            event_id, event_type, status, url, next_attempt_at, updated_at)
        SELECT e.book_id, new_id(t.at), e.developer_app_id, e.id, t.id, t.type, 'pending',
            e.url, $2, $2
        FROM webhook_endpoints e JOIN told t ON t.type = ANY(e.events) OR e.events = '{*}'
        WHERE e.book_id = $1 AND e.status = 'active'
            AND (t.app_id IS NULL OR e.developer_app_id = t.app_id)
        RETURNING id, webhook_endpoint_id, event_id
    ), queued AS (
        INSERT INTO webhook_queue (book_id, delivery_id, endpoint_id, event_id, due_at)
        SELECT $1, id, webhook_endpoint_id, event_id, made_at(id) FROM delivery
        RETURNING 1
    )
SELECT (SELECT count(*) FROM queued) AS queued WHERE rollback_unless(true AND true AND true AND NOT
    EXISTS (SELECT FROM moved m WHERE NOT (
    m.is_moved
        AND (m.threshold IS NULL OR m.on_hand - m.reserved > m.threshold
            OR m.on_hand - m.reserved - m.on_hand_change + m.reserved_change <= m.threshold)
        AND (m.on_hand - m.reserved > 0
            OR m.on_hand - m.reserved - m.on_hand_change + m.reserved_change <= 0)
)));
