-- Orders of products.
-- src/tillhouse/orders/recording/store/facts.py: find_facts
--   $1 book_id uuid
--   $2 store_id uuid
--   $3 store_name text
--   $4 customers uuid[]
--   $5 sessions uuid[]
--   $6 servers uuid[]
--   $7 terms uuid[]
--   $8 products uuid[]
--   $9 variants uuid[]
--   $10 bare_products uuid[]
--   $11 options uuid[]
--   $12 keys text[]
--   $13 tags uuid[]
--   $14 customer_names text[]
--   $15 id uuid[]
--   $16 id uuid[]
PREPARE order_facts_of_products (uuid, uuid, text, uuid[], uuid[], uuid[], uuid[], uuid[], uuid[],
    uuid[], uuid[], text[], uuid[], text[], uuid[], uuid[]) AS
WITH given AS (
        SELECT $2::uuid, $3::text, $4::uuid[], $5::uuid[], $6::uuid[], $7::uuid[], $8::uuid[],
            $9::uuid[], $10::uuid[], $11::uuid[], $12::text[], $13::uuid[], $14::text[],
            $15::uuid[], $16::uuid[]
    ), wanted_store AS (
        SELECT s.id, s.name, s.is_active, s.time_zone, s.preparation_minutes FROM stores s
        WHERE s.book_id = $1 AND s.deleted_at IS NULL AND s.id = $2
    )
    SELECT json_build_object('type', t.type, 'currency', t.currency,
            'time_zone', t.time_zone, 'tax_inclusive', t.tax_inclusive,
            'stock_policy', t.stock_policy, 'restocks_cancelled', t.restocks_cancelled,
            'service_charge_percent', t.service_charge_percent,
            'service_charge_modes', t.service_charge_modes
        ) AS trade,
        (SELECT row_to_json(wanted_store) FROM wanted_store) AS store,
        EXISTS (SELECT FROM stage_messages g
            WHERE g.book_id = $1 AND g.stage = 'queued' AND g.is_sent) AS tells_queued,
        (SELECT json_agg(json_build_object('id', p.id, 'name', p.name, 'type', p.type,
                'category_id', p.category_id, 'base_price', p.base_price,
                'tax_rate', p.tax_rate, 'image_url', p.image_url,
                'is_active', p.is_active, 'is_extra_only', p.is_extra_only))
            FROM products p
            WHERE p.book_id = $1 AND p.id = ANY($8) AND p.deleted_at IS NULL) AS products,
        (SELECT json_agg(variant) FROM (
            SELECT v.id, v.product_id, p.name AS product_name, v.name, v.is_implicit,
                v.is_active AND p.deleted_at IS NULL AS is_active, v.price,
                (SELECT vp.price FROM variant_prices vp WHERE vp.book_id = $1
                    AND vp.variant_id = v.id AND vp.store_id = (SELECT id FROM wanted_store)
                ) AS store_price,
                v.image_url, v.tracks_stock, v.stock_policy, v.low_stock_threshold,
                l.variant_id IS NOT NULL AS has_level, l.store_id AS level_store_id
            FROM (
                SELECT unnest($9) AS id
                UNION SELECT b.id FROM variants b
                WHERE b.book_id = $1 AND b.product_id = ANY($10) AND b.deleted_at IS NULL
                UNION SELECT c.variant_id FROM components c
                WHERE c.book_id = $1 AND c.product_id = ANY($8)
            ) w
            JOIN variants v ON v.book_id = $1 AND v.id = w.id AND v.deleted_at IS NULL
            JOIN products p ON p.book_id = $1 AND p.id = v.product_id
            LEFT JOIN LATERAL (
                SELECT s.variant_id, s.store_id FROM stock_levels s
                WHERE v.tracks_stock AND s.book_id = $1 AND s.variant_id = v.id
                    AND (s.store_id IS NULL OR s.store_id = (SELECT id FROM wanted_store))
                ORDER BY s.store_id IS NULL LIMIT 1
            ) l ON true) variant) AS variants,
        (SELECT json_agg(json_build_object('product_id', c.product_id,
                'variant_id', c.variant_id, 'quantity', c.quantity))
            FROM components c
            WHERE c.book_id = $1 AND c.product_id = ANY($8)) AS components,
        (SELECT json_agg(json_build_object('product_id', r.product_id, 'id', g.id,
                'name', g.name, 'min_choices', g.min_choices,
                'max_choices', g.max_choices) ORDER BY r.position, g.id)
            FROM product_modifier_groups r
            JOIN modifier_groups g ON g.book_id = $1 AND g.id = r.modifier_group_id
            WHERE r.book_id = $1 AND r.product_id = ANY($8)
                AND g.deleted_at IS NULL) AS groups,
        (SELECT json_object_agg(e.idempotency_key, json_build_object('id', e.id,
                'fingerprint', encode(e.idempotency_fingerprint, 'hex')))
            FROM orders e WHERE e.book_id = $1 AND e.idempotency_key = ANY($12)) AS earlier,
        (SELECT json_agg(
    json_build_object('id', v.id, 'status', v.status, 'short_code', v.short_code,
        'room_id', v.room_id, 'room_number', r.number,
        'customer', json_build_object('id', c.id, 'name', c.name,
            'phoneNumber', c.phone_number, 'whatsappNumber', c.whatsapp_number))
)
            FROM hotel_reservations v
            JOIN hotel_rooms r ON r.book_id = $1 AND r.id = v.room_id
            JOIN hotel_guests g ON g.book_id = $1 AND g.id = v.guest_id
            JOIN customers c ON c.book_id = $1 AND c.id = g.customer_id
            WHERE v.book_id = $1 AND v.id = ANY($15)) AS stays,
        (SELECT json_agg(json_build_object('id', r.id, 'number', r.number,
                'stay', CASE WHEN v.id IS NOT NULL THEN
    json_build_object('id', v.id, 'status', v.status, 'short_code', v.short_code,
        'room_id', v.room_id, 'room_number', r.number,
        'customer', json_build_object('id', c.id, 'name', c.name,
            'phoneNumber', c.phone_number, 'whatsappNumber', c.whatsapp_number))
 END))
            FROM hotel_rooms r
            LEFT JOIN hotel_reservations v
                ON v.book_id = $1 AND v.room_id = r.id AND v.status = 'checked_in'
            LEFT JOIN hotel_guests g ON g.book_id = $1 AND g.id = v.guest_id
            LEFT JOIN customers c ON c.book_id = $1 AND c.id = g.customer_id
            WHERE r.book_id = $1 AND r.id = ANY($16) AND r.deleted_at IS NULL) AS rooms
    FROM books k JOIN businesses t ON t.id = k.business_id WHERE k.id = $1;
