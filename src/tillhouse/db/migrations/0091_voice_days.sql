-- How many calls a book may place in a day, and how many it placed: a row that each placing locks
-- and raises, so that no two share the last place, and nothing is counted by looking at calls.

CREATE TABLE voice_settings (
    book_id uuid PRIMARY KEY REFERENCES books,
    calls_per_day integer NOT NULL CONSTRAINT voice_settings_calls_positive
        CHECK (calls_per_day >= 0),
    updated_at timestamptz(3) NOT NULL
);
CREATE TABLE voice_days (
    book_id uuid NOT NULL REFERENCES books,
    -- By the clock of the business.
    day date NOT NULL,
    calls integer NOT NULL,
    PRIMARY KEY (book_id, day)
) WITH (fillfactor = 50);
