-- What the kitchen makes of an order, and how far it is.
CREATE TABLE kitchen_tickets (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    station text NOT NULL DEFAULT 'kitchen',
    status text NOT NULL CONSTRAINT kitchen_tickets_status_known
        CHECK (status IN ('queued', 'preparing', 'ready', 'served')),
    queued_at timestamptz(3) NOT NULL,
    preparing_at timestamptz(3),
    ready_at timestamptz(3),
    served_at timestamptz(3),
    closed_at timestamptz(3),
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    -- Never two tickets of one station for one order, whoever sends it there.
    CONSTRAINT kitchen_tickets_one_per_station UNIQUE (book_id, order_id, station),
    FOREIGN KEY (book_id, order_id) REFERENCES orders (book_id, id)
) WITH (fillfactor = 80);
-- The tickets on the kitchen's wall.
CREATE INDEX kitchen_tickets_on_board ON kitchen_tickets (book_id, queued_at, id)
    WHERE closed_at IS NULL AND status <> 'served';
-- The list of all tickets.
CREATE INDEX kitchen_tickets_by_time ON kitchen_tickets (book_id, queued_at, id);

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
