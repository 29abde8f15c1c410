-- Amounts of money: bounds that tables of several rooms share.
CREATE DOMAIN positive_amount AS numeric CONSTRAINT positive_amount_bounds
    CHECK (VALUE > 0 AND VALUE < 1e15);

CREATE DOMAIN signed_amount AS numeric CONSTRAINT signed_amount_bounds
    CHECK (VALUE <> 0 AND VALUE > -1e15 AND VALUE < 1e15);

CREATE DOMAIN order_amount AS numeric CONSTRAINT order_amount_bounds
    CHECK (VALUE >= 0 AND VALUE < 1e15);

-- A version 7 uuid, for rows that one statement makes in numbers that it alone knows.
CREATE FUNCTION new_id(moment timestamptz) RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE
    RETURN encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
        PLACING substring(int8send((extract(epoch FROM moment) * 1000)::bigint) FROM 3)
        FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid;

-- The least id of a moment: ids carry their time, so a range of ids is a range of time.
CREATE FUNCTION least_id(moment timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN encode(substring(int8send((extract(epoch FROM moment) * 1000)::bigint) FROM 3)
        || '\x70008000000000000000'::bytea, 'hex')::uuid;

-- The moment that an id carries.
CREATE FUNCTION made_at(id uuid) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN to_timestamp(
        ('x' || lpad(replace(left(id::text, 13), '-', ''), 16, '0'))::bit(64)::bigint / 1000.0);

-- What is sold together grows together, and a dozen tables that are looked over at once take half a
-- second of a core from those who sell. So they take turns, the smallest first: what is not looked
-- over by now is in the next second, long before it has doubled again.
CREATE FUNCTION analyze_what_grew() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    grown regclass;
    analyzed integer := 0;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('analyze what grew', 0)) THEN
        RETURN 0;
    END IF;
    FOR grown IN
        SELECT c.oid FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
        WHERE c.relnamespace = current_schema()::regnamespace AND c.reltuples < 100000
            AND s.n_live_tup > 100 AND s.n_live_tup > 2 * c.reltuples
            AND pg_has_role(c.relowner, 'USAGE')
        ORDER BY c.reltuples, c.oid
    LOOP
        EXECUTE format('ANALYZE %s', grown);
        analyzed := analyzed + 1;
        EXIT WHEN clock_timestamp() > statement_timestamp() + interval '20 ms';
    END LOOP;
    RETURN analyzed;
END $$;

-- A statement that is a whole transaction can look at what it did, and undo it.
CREATE FUNCTION rollback_unless(is_right boolean) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF is_right THEN
        RETURN true;
    END IF;
    RAISE EXCEPTION 'taken back' USING ERRCODE = 'TH001';
END $$;

-- The moment of a row's change: later than its last one, whichever request began first.
CREATE FUNCTION changed_at(before timestamptz, asked timestamptz) RETURNS timestamptz
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN greatest(before + interval '1 millisecond', asked, clock_timestamp());
