-- The first answer to a key, kept with the effect that it answers: both or neither.
CREATE TABLE idempotency_keys (
    book_id uuid NOT NULL REFERENCES books,
    surface text NOT NULL CONSTRAINT idempotency_keys_surface_known
        CHECK (surface IN ('v1', 'portal')),
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    answer bytea,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, surface, key)
);
-- Keys that are too old to be asked for again are swept.
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- By the day on which they were kept: a day's answers are forgotten together.
CREATE TABLE answer_storage (
    book_id uuid NOT NULL REFERENCES books,
    day date NOT NULL,
    answers bigint NOT NULL,
    bytes bigint NOT NULL,
    -- The last answer that was counted is of this moment.
    latest_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, day)
);
-- The latest row that was measured is where measuring goes on.
CREATE INDEX answer_storage_by_mark ON answer_storage (latest_at);
-- Days whose answers are gone are swept.
CREATE INDEX answer_storage_by_day ON answer_storage (day);
