-- Debits and credits of each account, so that a trial balance of years reads few entries: an hourly
-- chore sums up each day (in UTC, of booking) that is over. A day or a quarter of an hour is that
-- of the moment at which money moved. Writes pay nothing for it.

CREATE TABLE ledger_sums (
    book_id uuid NOT NULL,
    period text NOT NULL CONSTRAINT ledger_sums_period_known CHECK (period IN ('quarter', 'day')),
    began_at timestamptz(0) NOT NULL,
    account_kind text NOT NULL,
    currency text NOT NULL,
    debits numeric NOT NULL,
    credits numeric NOT NULL,
    CONSTRAINT ledger_sums_pkey PRIMARY KEY (book_id, period, began_at, account_kind, currency)
) WITH (fillfactor = 70);
-- Entries booked before the end of this day are part of the sums.
CREATE TABLE ledger_summed_days (
    book_id uuid NOT NULL,
    day date NOT NULL,
    CONSTRAINT ledger_summed_days_pkey PRIMARY KEY (book_id)
);
