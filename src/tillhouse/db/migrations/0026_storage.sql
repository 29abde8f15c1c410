-- How much each book holds of what may be limited, counted beside the writes and never by a scan.

CREATE TABLE order_storage (
    book_id uuid PRIMARY KEY REFERENCES books,
    orders bigint NOT NULL,
    bytes bigint NOT NULL,
    -- The last order that was counted: each is read once.
    counted_to uuid NOT NULL
);

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
CREATE INDEX answer_storage_by_mark ON answer_storage (latest_at);
CREATE INDEX answer_storage_by_day ON answer_storage (day);
