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

CREATE TABLE messages (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    direction text NOT NULL CONSTRAINT messages_direction_known
        CHECK (direction IN ('inbound', 'outbound')),
    type text NOT NULL,
    text text NOT NULL,
    -- Of an outbound message: how far it got. A late report never moves it back.
    delivery_status text CONSTRAINT messages_delivery_status_known
        CHECK (delivery_status IN ('queued', 'sending', 'sent', 'delivered', 'read', 'failed',
            'unknown')),
    provider text NOT NULL,
    provider_message_id text,
    error text,
    -- What it was sent for, so that nothing is told twice: ticket and stage, for instance.
    purpose text,
    sent_by_id uuid,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    CONSTRAINT messages_purpose_key UNIQUE (book_id, purpose),
    CONSTRAINT messages_provider_key UNIQUE (book_id, provider, provider_message_id),
    FOREIGN KEY (book_id, conversation_id) REFERENCES conversations (book_id, id)
);
CREATE INDEX messages_by_conversation ON messages (book_id, conversation_id, id);

-- What the kitchen tells a customer at a stage; without a row nothing is sent.
CREATE TABLE stage_messages (
    book_id uuid NOT NULL REFERENCES books,
    stage text NOT NULL CONSTRAINT stage_messages_stage_known
        CHECK (stage IN ('queued', 'preparing', 'ready', 'served')),
    is_sent boolean NOT NULL,
    text text NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, stage)
);
