-- Messages to and from customers.

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
CREATE UNIQUE INDEX messaging_numbers_one_active ON messaging_numbers (book_id)
    WHERE status = 'active';
-- A provider calls about a number without knowing its book.
CREATE UNIQUE INDEX messaging_numbers_id_key ON messaging_numbers (id);

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
    PRIMARY KEY (book_id, id),
    CONSTRAINT conversations_phone_key UNIQUE (book_id, customer_phone),
    FOREIGN KEY (book_id, customer_id) REFERENCES customers (book_id, id)
);
CREATE INDEX conversations_by_time ON conversations (book_id, last_message_at, id);
CREATE INDEX conversations_by_assignee ON conversations (book_id, assignee_id, last_message_at, id)
    WHERE assignee_id IS NOT NULL;
CREATE INDEX conversations_by_customer ON conversations (book_id, customer_id, last_message_at, id)
    WHERE customer_id IS NOT NULL;

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
    -- When a worker has to look at it: to send it, to give up the one who was sending it, or to
    -- report on it in the sandbox. Null: nothing is left to do.
    due_at timestamptz(3),
    attempts integer NOT NULL DEFAULT 0,
    -- What it was sent for, so that nothing is told twice: ticket and stage, for instance.
    purpose text,
    sent_by_id uuid,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    CONSTRAINT messages_purpose_key UNIQUE (book_id, purpose),
    CONSTRAINT messages_provider_key UNIQUE (book_id, provider, provider_message_id),
    FOREIGN KEY (book_id, number_id) REFERENCES messaging_numbers (book_id, id),
    FOREIGN KEY (book_id, conversation_id) REFERENCES conversations (book_id, id)
);
CREATE INDEX messages_by_conversation ON messages (book_id, conversation_id, id);
CREATE INDEX messages_due ON messages (delivery_status, due_at) WHERE due_at IS NOT NULL;

-- What a provider told us, as it came: stored before it is answered, gone once it is processed.
CREATE TABLE messaging_inbox (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    number_id uuid NOT NULL,
    body bytea NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    -- Null: given up after many attempts.
    due_at timestamptz(3),
    received_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    FOREIGN KEY (book_id, number_id) REFERENCES messaging_numbers (book_id, id)
);
CREATE INDEX messaging_inbox_due ON messaging_inbox (due_at) WHERE due_at IS NOT NULL;

-- What the kitchen tells a customer at a stage; without a row nothing is sent.
CREATE TABLE stage_messages (
    book_id uuid NOT NULL REFERENCES books,
    stage text NOT NULL CONSTRAINT stage_messages_stage_known
        CHECK (stage IN ('queued', 'preparing', 'ready', 'served')),
    is_sent boolean NOT NULL,
    text text NOT NULL,
    -- What is sent to a customer who may not be written to freely.
    template_name text,
    template_language text,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, stage),
    CONSTRAINT stage_messages_template_whole
        CHECK ((template_name IS NULL) = (template_language IS NULL))
);

-- Every test book writes from the sandbox: those that exist as well.
INSERT INTO messaging_numbers (book_id, id, provider, phone_number, status, created_at, updated_at)
SELECT b.id, gen_random_uuid(), 'sandbox', '+15550100000', 'active', now(), now()
FROM books b WHERE b.environment = 'test';
