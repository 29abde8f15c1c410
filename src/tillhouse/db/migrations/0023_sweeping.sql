-- Rows that outlive their use are found by an index, and the webhook log leaves none behind.

CREATE INDEX usage_records_by_day ON usage_records (day);

-- A week whose first rows are in the default partition stays there: it can't be made any more. What
-- is too old is deleted from there, some at a time.
CREATE OR REPLACE FUNCTION turn_webhook_partitions(moment timestamptz, keep_days integer)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    parent text;
    child text;
    week date;
    least uuid;
    beyond uuid;
    has_begun boolean;
    dropped integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('webhook partitions', 0));
    FOREACH parent IN ARRAY ARRAY['webhook_events', 'webhook_deliveries'] LOOP
        FOR ahead IN 0..2 LOOP
            week := date_trunc('week', moment AT TIME ZONE 'UTC')::date + 7 * ahead;
            child := format('%s_%s', parent, to_char(week, 'YYYYMMDD'));
            CONTINUE WHEN to_regclass(child) IS NOT NULL;
            least := least_id(week::timestamp AT TIME ZONE 'UTC');
            beyond := least_id((week + 7)::timestamp AT TIME ZONE 'UTC');
            EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE id >= $1 AND id < $2)',
                parent || '_rest') INTO has_begun USING least, beyond;
            IF NOT has_begun THEN
                EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
                    child, parent, least, beyond);
            END IF;
        END LOOP;
        FOR child IN
            SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = parent::regclass AND c.relname ~ '_[0-9]{8}$'
                AND to_date(right(c.relname, 8), 'YYYYMMDD') + 7
                    < (moment AT TIME ZONE 'UTC')::date - keep_days
        LOOP
            EXECUTE format('DROP TABLE %I', child);
            dropped := dropped + 1;
        END LOOP;
        EXECUTE format('DELETE FROM %1$I WHERE ctid = ANY (ARRAY('
            'SELECT ctid FROM %1$I WHERE id < $1 LIMIT 10000))', parent || '_rest')
            USING least_id(moment - make_interval(days => keep_days));
    END LOOP;
    RETURN dropped;
END $$;
