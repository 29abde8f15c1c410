-- A number that a business writes from.
CREATE TABLE messaging_numbers (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    provider text NOT NULL CONSTRAINT messaging_numbers_provider_known
        CHECK (provider IN ('sandbox', 'whatsapp')),
    phone_number text NOT NULL,
    -- The provider's own name for the number, and what it takes to write from it.
    provider_number_id text,
    credentials_sealed bytea,
    status text NOT NULL CONSTRAINT messaging_numbers_status_known
        CHECK (status IN ('active', 'disabled')),
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id)
);
-- A book sends from one number.
CREATE UNIQUE INDEX messaging_numbers_one_active ON messaging_numbers (book_id)
    WHERE status = 'active';
-- A provider calls about a number without knowing its book.
CREATE UNIQUE INDEX messaging_numbers_id_key ON messaging_numbers (id);

-- Talks with a customer by messages, with who sees to them.
CREATE TABLE conversations (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    customer_phone text NOT NULL,
    customer_id uuid,
    assignee_id uuid,
    assigned_at timestamptz(3),
    last_message_at timestamptz(3) NOT NULL,
    -- When the customer last wrote: free text may be sent for 24 hours from then.
    last_received_at timestamptz(3),
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    -- The inbox: status, unread messages, notes, quick replies, and who is next to answer.
    status text NOT NULL DEFAULT 'open' CONSTRAINT conversations_status_known
        CHECK (status IN ('open', 'snoozed', 'closed')),
    snoozed_until timestamptz(3),
    -- Messages of the customer that are not marked as read.
    unread_count integer NOT NULL DEFAULT 0
        CONSTRAINT conversations_unread_count_not_negative CHECK (unread_count >= 0),
    -- Since when the customer waits for somebody to be assigned; null: somebody is, or the
    -- customer wrote nothing since the conversation was closed or unassigned.
    began_waiting_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    CONSTRAINT conversations_phone_key UNIQUE (book_id, customer_phone),
    FOREIGN KEY (book_id, customer_id) REFERENCES customers (book_id, id),
    CONSTRAINT conversations_snoozed_until_of_snoozed
        CHECK ((status = 'snoozed') = (snoozed_until IS NOT NULL)),
    CONSTRAINT conversations_waiting_unassigned
        CHECK (began_waiting_at IS NULL OR (status = 'open' AND assignee_id IS NULL))
);
-- The inbox, the latest message first.
CREATE INDEX conversations_by_time ON conversations (book_id, last_message_at, id);
-- The conversations of a member.
CREATE INDEX conversations_by_assignee ON conversations (book_id, assignee_id, last_message_at, id)
    WHERE assignee_id IS NOT NULL;
-- The conversations of a customer.
CREATE INDEX conversations_by_customer ON conversations (book_id, customer_id, last_message_at, id)
    WHERE customer_id IS NOT NULL;
-- The conversations in one state.
CREATE INDEX conversations_by_status ON conversations (book_id, status, last_message_at, id);
-- The conversations with messages that were not read.
CREATE INDEX conversations_unread ON conversations (book_id, last_message_at, id)
    WHERE unread_count > 0;
-- The conversations in which a customer waits, the longest first.
CREATE INDEX conversations_waiting ON conversations (book_id, began_waiting_at, id)
    WHERE began_waiting_at IS NOT NULL;

-- One row per book, which assigns one batch of conversations at a time under its lock.
CREATE TABLE messaging_inboxes (
    book_id uuid PRIMARY KEY REFERENCES books,
    assigns_automatically boolean NOT NULL DEFAULT true,
    -- How many conversations were assigned automatically: the number of the last turn.
    turns bigint NOT NULL DEFAULT 0,
    updated_at timestamptz(3) NOT NULL
);

-- The number of each member's last turn.
CREATE TABLE messaging_turns (
    book_id uuid NOT NULL REFERENCES books,
    user_id uuid NOT NULL,
    turn bigint NOT NULL,
    PRIMARY KEY (book_id, user_id)
);

-- Until when a member is online, unless that is renewed.
CREATE TABLE messaging_presence (
    business_id uuid NOT NULL,
    user_id uuid NOT NULL,
    online_until timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (business_id, user_id),
    FOREIGN KEY (business_id, user_id) REFERENCES members (business_id, user_id) ON DELETE CASCADE
);

-- What members tell each other about a conversation; no customer sees it.
CREATE TABLE conversation_notes (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    text text NOT NULL,
    -- Null: a key wrote it.
    author_id uuid,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, conversation_id) REFERENCES conversations (book_id, id)
);
-- The notes of a conversation.
CREATE INDEX conversation_notes_in_order ON conversation_notes (book_id, conversation_id, id);

-- Texts that are sent often, each by a short word.
CREATE TABLE quick_replies (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    shortcut text NOT NULL,
    text text NOT NULL,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    CONSTRAINT quick_replies_shortcut_key UNIQUE (book_id, shortcut)
);

-- Files that customers send, and are sent.
CREATE TABLE messaging_attachments (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    kind text CONSTRAINT messaging_attachments_kind_known
        CHECK (kind IN ('image', 'audio', 'video', 'document', 'sticker')),
    -- uploading: its address was given out; fetching: it lies at the provider.
    status text NOT NULL CONSTRAINT messaging_attachments_status_known
        CHECK (status IN ('uploading', 'fetching', 'ready', 'failed')),
    filename text,
    -- As its content says, whatever its name is.
    content_type text,
    size_bytes integer,
    sha256 bytea,
    content bytea,
    error text,
    -- Where it is fetched from.
    number_id uuid,
    provider_media_id text,
    provider_sha256 text,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, number_id) REFERENCES messaging_numbers (book_id, id),
    CONSTRAINT messaging_attachments_ready_with_content CHECK ((status = 'ready') =
        (content IS NOT NULL AND kind IS NOT NULL AND content_type IS NOT NULL
            AND size_bytes IS NOT NULL AND sha256 IS NOT NULL))
);
-- Uploads that never ended are swept.
CREATE INDEX messaging_attachments_uploading ON messaging_attachments (created_at)
    WHERE status = 'uploading';

-- Messages of conversations, and what became of those that were sent.
CREATE TABLE messages (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    direction text NOT NULL CONSTRAINT messages_direction_known
        CHECK (direction IN ('inbound', 'outbound')),
    type text NOT NULL,
    text text NOT NULL,
    -- What is sent instead of the text: name, language, parameters.
    template jsonb,
    -- Of an outbound message: how far it got. A late report never moves it back.
    delivery_status text CONSTRAINT messages_delivery_status_known
        CHECK (delivery_status IN ('queued', 'sending', 'sent', 'delivered', 'read', 'failed',
            'unknown')),
    provider text NOT NULL,
    number_id uuid NOT NULL,
    provider_message_id text,
    error text,
    -- What it was sent for, so that nothing is told twice: ticket and stage, for instance.
    purpose text,
    sent_by_id uuid,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    attachment_id uuid,
    PRIMARY KEY (book_id, id),
    CONSTRAINT messages_purpose_key UNIQUE (book_id, purpose),
    CONSTRAINT messages_provider_key UNIQUE (book_id, provider, provider_message_id),
    FOREIGN KEY (book_id, number_id) REFERENCES messaging_numbers (book_id, id),
    FOREIGN KEY (book_id, conversation_id) REFERENCES conversations (book_id, id),
    CONSTRAINT messages_book_id_attachment_id_fkey
        FOREIGN KEY (book_id, attachment_id) REFERENCES messaging_attachments (book_id, id)
);
-- The messages of a conversation in order.
CREATE INDEX messages_by_conversation ON messages (book_id, conversation_id, id);
-- A search finds words of what was written.
CREATE INDEX messages_by_word ON messages USING gin (customer_words(book_id, text));
-- The messages that name a file: looked for before the file is forgotten.
CREATE INDEX messages_by_attachment ON messages (book_id, attachment_id)
    WHERE attachment_id IS NOT NULL;

-- How many files a book holds, and their bytes.
CREATE TABLE messaging_storage (
    book_id uuid PRIMARY KEY REFERENCES books,
    attachments bigint NOT NULL,
    bytes bigint NOT NULL
);

-- How many conversations there are by state, member and whether they were read.
CREATE TABLE conversation_tallies (
    book_id uuid NOT NULL,
    status text NOT NULL,
    assignee_id uuid,
    is_unread boolean NOT NULL,
    conversations bigint NOT NULL,
    CONSTRAINT conversation_tallies_kind_key
        UNIQUE NULLS NOT DISTINCT (book_id, status, assignee_id, is_unread)
) WITH (fillfactor = 70);

-- Changes of those tallies, until a worker folds them into one row each.
CREATE TABLE conversation_tally_changes (
    book_id uuid NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    status text NOT NULL,
    assignee_id uuid,
    is_unread boolean NOT NULL,
    conversations bigint NOT NULL,
    PRIMARY KEY (book_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- Messages are counted as orders are: each once, soon after it was kept.
CREATE TABLE message_storage (
    book_id uuid PRIMARY KEY REFERENCES books (id),
    messages bigint NOT NULL,
    bytes bigint NOT NULL,
    counted_to uuid,
    notes_counted_to uuid,
    conversations_counted_to uuid
);

-- Each written conversation adds a change: no writer waits for another.
CREATE FUNCTION tally_conversations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO conversation_tally_changes
            (book_id, status, assignee_id, is_unread, conversations)
        SELECT book_id, status, assignee_id, unread_count > 0, count(*) FROM written
        GROUP BY 1, 2, 3, 4;
    ELSE
        INSERT INTO conversation_tally_changes
            (book_id, status, assignee_id, is_unread, conversations)
        SELECT book_id, status, assignee_id, is_unread, sum(conversations)
        FROM (
            SELECT book_id, status, assignee_id, unread_count > 0 AS is_unread,
                -1 AS conversations
            FROM replaced
            UNION ALL SELECT book_id, status, assignee_id, unread_count > 0, 1 FROM written
        ) c
        GROUP BY 1, 2, 3, 4 HAVING sum(conversations) <> 0;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER conversations_are_tallied AFTER INSERT ON conversations
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION tally_conversations();
CREATE TRIGGER conversations_are_tallied_again AFTER UPDATE ON conversations
    REFERENCING OLD TABLE AS replaced NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION tally_conversations();
