-- Events about one thing, and the entries of the audit log that name it.
ALTER TABLE webhook_events ADD COLUMN entity_id uuid;
CREATE INDEX webhook_events_by_entity ON webhook_events (entity_id);

-- The ids that an entry of the audit log names, wherever they stand in its facts.
CREATE FUNCTION audit_entities(metadata jsonb) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(DISTINCT lower(v.value #>> '{}')), '{}')
    FROM jsonb_path_query(metadata, '$.** ? (@.type() == "string")') AS v (value)
    WHERE v.value #>> '{}' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
$$;
CREATE INDEX audit_events_by_entity ON audit_events USING gin (audit_entities(metadata));
