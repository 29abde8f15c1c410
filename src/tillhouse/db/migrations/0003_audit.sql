-- The audit log: one hash chain per business, append-only for everybody.

CREATE TABLE audit_events (
    business_id uuid NOT NULL REFERENCES businesses,
    sequence bigint NOT NULL,
    id uuid NOT NULL,
    developer_api_key_id uuid,
    actor_user_id uuid,
    actor_name text NOT NULL,
    event_type text NOT NULL,
    title text NOT NULL,
    ip_address text NOT NULL,
    metadata jsonb NOT NULL,
    created_at timestamptz(3) NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (business_id, sequence)
);
CREATE INDEX audit_events_by_time ON audit_events (business_id, created_at, id);
CREATE INDEX audit_events_by_type ON audit_events (business_id, event_type, created_at, id);
CREATE INDEX audit_events_by_key
    ON audit_events (business_id, developer_api_key_id, created_at, id);

-- The last link of each chain; its row lock puts the writers of one business in line.
CREATE TABLE audit_heads (
    business_id uuid PRIMARY KEY REFERENCES businesses,
    sequence bigint NOT NULL,
    hash bytea NOT NULL
);

-- What a link vouches for: every column and the link before it. A JSON array keeps the
-- values apart, so that no two different rows hash the same text.
CREATE FUNCTION audit_hash(previous bytea, event audit_events) RETURNS bytea
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN sha256(previous || convert_to(jsonb_build_array(
        event.business_id, event.sequence, event.id, event.developer_api_key_id,
        event.actor_user_id, event.actor_name, event.event_type, event.title,
        event.ip_address, event.metadata, iso(event.created_at))::text, 'UTF8'));

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER audit_events_append_only
    BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
