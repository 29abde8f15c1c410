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
    PRIMARY KEY (book_id, id),
    CONSTRAINT jobs_once UNIQUE (book_id, kind, subject_id, key)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
CREATE INDEX jobs_due ON jobs (kind, due_at) WHERE dead_at IS NULL;
CREATE INDEX jobs_dead ON jobs (dead_at) WHERE dead_at IS NOT NULL;

-- Messages that wait to be sent, and those that somebody was sending.
INSERT INTO jobs (book_id, id, kind, subject_id, due_at, is_leased, attempts, created_at)
SELECT book_id, gen_random_uuid(), 'message', id, due_at, delivery_status = 'sending', attempts,
    created_at
FROM messages WHERE due_at IS NOT NULL AND delivery_status IN ('queued', 'sending');

-- Reports of the sandbox: what its numbers stand for.
INSERT INTO jobs (book_id, id, kind, subject_id, payload, due_at, created_at)
SELECT m.book_id, gen_random_uuid(), 'message_report', m.id, convert_to(CASE c.customer_phone
        WHEN '+15550100004' THEN '{"status":"read"}'
        WHEN '+15550100005' THEN '{"status":"failed","error":"131026: Message undeliverable"}'
        ELSE '{"status":"delivered"}' END, 'UTF8'), m.due_at, m.created_at
FROM messages m
JOIN conversations c ON c.book_id = m.book_id AND c.id = m.conversation_id
WHERE m.due_at IS NOT NULL AND m.delivery_status = 'sent';

DROP INDEX messages_due;
ALTER TABLE messages DROP COLUMN due_at, DROP COLUMN attempts;

-- What WhatsApp told us.
INSERT INTO jobs (book_id, id, kind, subject_id, key, payload, due_at, attempts, dead_at, reason,
    created_at)
SELECT book_id, id, 'whatsapp_update', number_id, id::text, body, coalesce(due_at, received_at),
    attempts, CASE WHEN due_at IS NULL THEN now() END,
    CASE WHEN due_at IS NULL THEN 'could not be processed' END, received_at
FROM messaging_inbox;

DROP TABLE messaging_inbox;
