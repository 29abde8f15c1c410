-- What is left to do after a commit, or at a time: one row each, gone once it is done.
CREATE TABLE jobs (
    -- All zeros for what belongs to no book, so without a foreign key.
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    -- The row that it is about, and which job of several about it.
    subject_id uuid NOT NULL,
    key text NOT NULL DEFAULT '',
    payload bytea,
    -- When to do it; of a leased one, when its lease ends and anybody may take it again.
    due_at timestamptz(3) NOT NULL,
    is_leased boolean NOT NULL DEFAULT false,
    -- Each lease and each failure is a generation: the result of an older one changes nothing.
    generation integer NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 0,
    -- When it was given up; and why it failed the last time.
    dead_at timestamptz(3),
    reason text,
    created_at timestamptz(3) NOT NULL,
    -- Jobs that are due stand in a line of their book's own, so that books are served in turns: the
    -- next book of a kind is found by one look at an index, however many jobs another one has.
    is_ready boolean NOT NULL DEFAULT false,
    PRIMARY KEY (book_id, id),
    CONSTRAINT jobs_once UNIQUE (book_id, kind, subject_id, key)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
-- Jobs that were given up are listed, and swept in the end.
CREATE INDEX jobs_dead ON jobs (dead_at) WHERE dead_at IS NOT NULL;
-- Jobs of a kind whose time has come are made ready.
CREATE INDEX jobs_due ON jobs (kind, due_at) WHERE dead_at IS NULL AND NOT is_ready;
-- Ready jobs are claimed in turn by book, so that no book waits for another's.
CREATE INDEX jobs_ready ON jobs (kind, book_id, due_at) WHERE dead_at IS NULL AND is_ready;
