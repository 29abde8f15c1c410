-- Jobs that are due stand in a line of their book's own, so that books are served in turns: the
-- next book of a kind is found by one look at an index, however many jobs another one has.
ALTER TABLE jobs ADD COLUMN is_ready boolean NOT NULL DEFAULT false;
DROP INDEX jobs_due;
CREATE INDEX jobs_due ON jobs (kind, due_at) WHERE dead_at IS NULL AND NOT is_ready;
CREATE INDEX jobs_ready ON jobs (kind, book_id, due_at) WHERE dead_at IS NULL AND is_ready;
