-- The wallet at the end of a past day is its balance now, less what came since: by whole days.

CREATE TABLE wallet_days (
    book_id uuid NOT NULL,
    -- In UTC; a day without transfers has no row.
    day date NOT NULL,
    -- What the wallet got less what it gave.
    change numeric NOT NULL,
    PRIMARY KEY (book_id, day)
);
