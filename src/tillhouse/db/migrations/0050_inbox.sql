-- The inbox: status, unread messages, notes, quick replies, and who is next to answer.

ALTER TABLE conversations
    ADD COLUMN status text NOT NULL DEFAULT 'open' CONSTRAINT conversations_status_known
        CHECK (status IN ('open', 'snoozed', 'closed')),
    ADD COLUMN snoozed_until timestamptz(3),
    -- Messages of the customer that nobody has marked as read.
    ADD COLUMN unread_count integer NOT NULL DEFAULT 0
        CONSTRAINT conversations_unread_count_not_negative CHECK (unread_count >= 0),
    -- Since when the customer waits for somebody to be assigned; null: somebody is, or the
    -- customer wrote nothing since the conversation was closed or unassigned.
    ADD COLUMN began_waiting_at timestamptz(3),
    ADD CONSTRAINT conversations_snoozed_until_of_snoozed
        CHECK ((status = 'snoozed') = (snoozed_until IS NOT NULL)),
    ADD CONSTRAINT conversations_waiting_unassigned
        CHECK (began_waiting_at IS NULL OR (status = 'open' AND assignee_id IS NULL));
CREATE INDEX conversations_by_status ON conversations (book_id, status, last_message_at, id);
CREATE INDEX conversations_unread ON conversations (book_id, last_message_at, id)
    WHERE unread_count > 0;
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
