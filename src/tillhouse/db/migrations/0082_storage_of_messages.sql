-- What waits of a book is looked up with each hook that comes.
CREATE INDEX provider_events_waiting ON provider_events (book_id) WHERE processed_at IS NULL;

-- Messages are counted as orders are: each once, soon after it was kept.
CREATE TABLE message_storage (
    book_id uuid PRIMARY KEY REFERENCES books (id),
    messages bigint NOT NULL,
    bytes bigint NOT NULL,
    counted_to uuid NOT NULL
);
