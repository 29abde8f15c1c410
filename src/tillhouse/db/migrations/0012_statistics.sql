-- What the planner knows of a table is as old as its last ANALYZE, which autovacuum does once a
-- minute at most. A new house that is busy from its first second would be planned as if it were
-- empty until then, and on nothing every index looks as good as the right one. So whatever has more
-- than twice the rows that the planner knows of is looked over now; beyond 100,000 rows no plan
-- changes any more, and autovacuum is soon enough. Returns how many tables those were.
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
        ORDER BY c.oid
    LOOP
        EXECUTE format('ANALYZE %s', grown);
        analyzed := analyzed + 1;
    END LOOP;
    RETURN analyzed;
END $$;
