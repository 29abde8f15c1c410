-- The person who made a key, or gave it its present secret; null: nobody knows.
ALTER TABLE api_keys ADD COLUMN made_by uuid;
-- When the audit log was told that a key may do what its maker may not let a key do.
ALTER TABLE api_keys ADD COLUMN noted_at timestamptz(3);

UPDATE api_keys k SET made_by = (
    SELECT e.actor_user_id FROM books b JOIN audit_events e ON e.business_id = b.business_id
    WHERE b.id = k.book_id AND e.developer_api_key_id = k.id
        AND e.event_type IN ('api_key.created', 'api_key.rotated')
    ORDER BY e.created_at DESC, e.id DESC LIMIT 1
);

CREATE INDEX api_keys_by_maker ON api_keys (book_id, made_by, id) WHERE made_by IS NOT NULL;
CREATE INDEX api_keys_by_scope ON api_keys USING gin (scopes);
