-- Voice: agents that call customers, from numbers of the business.
CREATE TABLE voice_agents (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    name text NOT NULL,
    description text,
    status text NOT NULL CONSTRAINT voice_agents_status_known
        CHECK (status IN ('active', 'inactive')),
    store_id uuid,
    language text NOT NULL,
    tone text NOT NULL,
    is_default boolean NOT NULL DEFAULT false,
    greeting text,
    instructions text,
    script text NOT NULL,
    -- The tools that it may use.
    tools text[] NOT NULL,
    -- Said first, before anything is recorded of the customer.
    disclosure text NOT NULL,
    is_recording boolean NOT NULL,
    voicemail_action text NOT NULL CONSTRAINT voice_agents_voicemail_known
        CHECK (voicemail_action IN ('hang_up', 'leave_message')),
    max_duration_s integer NOT NULL CHECK (max_duration_s > 0),
    ring_timeout_s integer NOT NULL CHECK (ring_timeout_s > 0),
    silence_timeout_s integer NOT NULL CHECK (silence_timeout_s > 0),
    max_attempts integer NOT NULL CHECK (max_attempts > 0),
    retry_delay_s integer NOT NULL CHECK (retry_delay_s > 0),
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    -- Agents whose conversations a language model leads.
    runtime text NOT NULL DEFAULT 'scripted' CONSTRAINT voice_agents_runtime_known
        CHECK (runtime IN ('scripted', 'chat')),
    model_url text,
    model_name text,
    -- The key that its server wants.
    model_key_sealed bytea,
    PRIMARY KEY (book_id, id),
    CONSTRAINT voice_agents_default_is_active
        CHECK (NOT is_default OR (status = 'active' AND deleted_at IS NULL)),
    FOREIGN KEY (book_id, store_id) REFERENCES stores (book_id, id),
    CONSTRAINT voice_agents_chat_has_a_model
        CHECK (runtime <> 'chat' OR (model_url IS NOT NULL AND model_name IS NOT NULL))
);
-- A book has one agent that answers where none is named.
CREATE UNIQUE INDEX voice_agents_one_default ON voice_agents (book_id) WHERE is_default;
-- The list of agents.
CREATE INDEX voice_agents_by_time ON voice_agents (book_id, created_at, id)
    WHERE deleted_at IS NULL;

-- Telephone numbers that calls are made from and answered at.
CREATE TABLE voice_numbers (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    phone_number text NOT NULL,
    label text NOT NULL,
    provider text NOT NULL CONSTRAINT voice_numbers_provider_known
        CHECK (provider IN ('simulator', 'sip', 'twilio')),
    -- What the provider needs to know, with its secrets.
    settings_sealed bytea,
    status text NOT NULL CONSTRAINT voice_numbers_status_known
        CHECK (status IN ('active', 'paused')),
    is_default boolean NOT NULL DEFAULT false,
    default_agent_id uuid,
    store_id uuid,
    max_concurrent_calls integer NOT NULL CHECK (max_concurrent_calls > 0),
    calls_per_second integer NOT NULL CHECK (calls_per_second > 0),
    -- In the time zone of the one who is called; null: at any time.
    calls_from text,
    calls_until text,
    -- No call is dialled from it before.
    next_dial_at timestamptz(3),
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    deleted_at timestamptz(3),
    -- Premium and satellite numbers that may be called from a number, by the beginnings of theirs.
    allowed_prefixes text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (book_id, id),
    CONSTRAINT voice_numbers_hours CHECK ((calls_from IS NULL) = (calls_until IS NULL)),
    CONSTRAINT voice_numbers_default_is_there CHECK (NOT is_default OR deleted_at IS NULL),
    FOREIGN KEY (book_id, default_agent_id) REFERENCES voice_agents (book_id, id),
    FOREIGN KEY (book_id, store_id) REFERENCES stores (book_id, id)
) WITH (fillfactor = 50);
-- A number is there once, unless it was removed.
CREATE UNIQUE INDEX voice_numbers_once ON voice_numbers (book_id, phone_number)
    WHERE deleted_at IS NULL;
-- A book has one number that calls are made from where none is named.
CREATE UNIQUE INDEX voice_numbers_one_default ON voice_numbers (book_id) WHERE is_default;

-- People who are not called.
CREATE TABLE voice_suppressions (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    phone_number text NOT NULL,
    reason text NOT NULL CONSTRAINT voice_suppressions_reason_known
        CHECK (reason IN ('manual', 'opt_out', 'unwanted')),
    note text,
    -- The call in which they said so.
    call_id uuid,
    created_by_name text NOT NULL,
    created_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, id),
    CONSTRAINT voice_suppressions_once UNIQUE (book_id, phone_number)
);
-- The list of numbers that are never called.
CREATE INDEX voice_suppressions_by_time ON voice_suppressions (book_id, created_at, id);

-- Calls, and the queue of those that are to be dialled.
CREATE TABLE voice_calls (
    book_id uuid NOT NULL REFERENCES books,
    id uuid NOT NULL,
    status text NOT NULL CONSTRAINT voice_calls_status_known CHECK (status IN (
        'queued', 'dialing', 'ringing', 'in_progress', 'completed', 'failed', 'missed',
        'cancelled')),
    -- Of one that is queued: why it is not due yet, and when it is.
    queue_reason text,
    due_at timestamptz(3) NOT NULL,
    -- Queued no longer than until then.
    expires_at timestamptz(3) NOT NULL,
    scheduled_at timestamptz(3),
    direction text NOT NULL DEFAULT 'outbound',
    number_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    provider text NOT NULL,
    customer_id uuid,
    customer_name text,
    customer_phone text NOT NULL,
    order_id uuid,
    purpose text NOT NULL,
    context text,
    metadata jsonb NOT NULL,
    attempt integer NOT NULL DEFAULT 0,
    max_attempts integer NOT NULL,
    -- From the dial until its line is over: a slot of the number. Each claim is a new generation.
    lease_until timestamptz(3),
    generation integer NOT NULL DEFAULT 0,
    provider_call_id text,
    dialed_at timestamptz(3),
    ringing_at timestamptz(3),
    answered_at timestamptz(3),
    ended_at timestamptz(3),
    duration_seconds integer NOT NULL DEFAULT 0,
    ended_reason text,
    ended_by text,
    answered_by text,
    outcome_code text,
    outcome jsonb,
    has_opted_out boolean NOT NULL DEFAULT false,
    recording_status text NOT NULL DEFAULT 'none' CONSTRAINT voice_calls_recording_known
        CHECK (recording_status IN ('none', 'recording', 'ready', 'deleted')),
    idempotency_key text,
    idempotency_fingerprint bytea,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    reservation_id uuid,
    -- The conversation of a call in a sentence or two.
    summary text,
    -- Calls that somebody ends from outside: the process that makes the call looks every second.
    hang_up_at timestamptz(3),
    PRIMARY KEY (book_id, id),
    CONSTRAINT voice_calls_end CHECK ((ended_at IS NOT NULL) =
        (status IN ('completed', 'failed', 'missed', 'cancelled'))),
    FOREIGN KEY (book_id, number_id) REFERENCES voice_numbers (book_id, id),
    FOREIGN KEY (book_id, agent_id) REFERENCES voice_agents (book_id, id),
    FOREIGN KEY (book_id, customer_id) REFERENCES customers (book_id, id),
    FOREIGN KEY (book_id, order_id) REFERENCES orders (book_id, id),
    FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations (book_id, id)
) WITH (fillfactor = 75);
-- A request that is sent again finds the call that it made.
CREATE UNIQUE INDEX voice_calls_idempotency_key ON voice_calls (book_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
-- The calls of a number that wait for their turn.
CREATE INDEX voice_calls_queue ON voice_calls (book_id, number_id, due_at, id)
    WHERE status = 'queued';
-- Calls that waited too long are given up.
CREATE INDEX voice_calls_to_expire ON voice_calls (expires_at) WHERE status = 'queued';
-- The calls of a number that are under way, each in one of its slots.
CREATE INDEX voice_calls_slots ON voice_calls (book_id, number_id, lease_until)
    WHERE lease_until IS NOT NULL;
-- Calls whose process went away are asked for at their provider.
CREATE INDEX voice_calls_to_reconcile ON voice_calls (lease_until) WHERE lease_until IS NOT NULL;
-- The list of calls, the latest first, filtered from the index alone.
CREATE INDEX voice_calls_by_time ON voice_calls (book_id, created_at, id)
    INCLUDE (status, number_id, agent_id, ended_reason);
-- The list of calls in one state.
CREATE INDEX voice_calls_by_status ON voice_calls (book_id, status, created_at, id);
-- The calls of a number of the business.
CREATE INDEX voice_calls_by_number ON voice_calls (book_id, number_id, created_at, id);
-- The calls of an agent.
CREATE INDEX voice_calls_by_agent ON voice_calls (book_id, agent_id, created_at, id);
-- The calls that ended for a reason.
CREATE INDEX voice_calls_by_reason ON voice_calls (book_id, ended_reason, created_at, id)
    WHERE ended_reason IS NOT NULL;
-- The calls of a customer's telephone.
CREATE INDEX voice_calls_by_phone ON voice_calls (book_id, customer_phone, created_at, id);
-- The calls of a customer.
CREATE INDEX voice_calls_by_customer ON voice_calls (book_id, customer_id, created_at, id)
    WHERE customer_id IS NOT NULL;
-- A search finds words of the customer's name and of what the call was for.
CREATE INDEX voice_calls_by_word ON voice_calls USING gin (customer_words(book_id,
    coalesce(customer_name, '') || ' ' || purpose));

-- Each time a call was dialled, written before that.
CREATE TABLE voice_attempts (
    book_id uuid NOT NULL,
    call_id uuid NOT NULL,
    number integer NOT NULL,
    id uuid NOT NULL,
    started_at timestamptz(3) NOT NULL,
    ended_at timestamptz(3),
    result text,
    ended_by text,
    sip_status integer,
    detail text,
    -- The latest that a provider's callbacks told of an attempt, until its dispatcher reads it: the
    -- body as it came, and its number, which only ever rises.
    told bytea,
    told_number integer,
    PRIMARY KEY (book_id, call_id, number),
    CONSTRAINT voice_attempts_id UNIQUE (book_id, id),
    FOREIGN KEY (book_id, call_id) REFERENCES voice_calls (book_id, id)
);

-- What was said and done in a call, as it happened.
CREATE TABLE voice_steps (
    book_id uuid NOT NULL,
    call_id uuid NOT NULL,
    attempt integer NOT NULL,
    position integer NOT NULL,
    role text NOT NULL CONSTRAINT voice_steps_role_known
        CHECK (role IN ('agent', 'customer', 'dtmf', 'tool')),
    text text NOT NULL,
    -- Milliseconds since the answer.
    started_ms integer NOT NULL,
    ended_ms integer NOT NULL,
    confidence double precision,
    PRIMARY KEY (book_id, call_id, attempt, position),
    FOREIGN KEY (book_id, call_id) REFERENCES voice_calls (book_id, id)
);

-- Recordings of calls, until their time of keeping is over.
CREATE TABLE voice_recordings (
    book_id uuid NOT NULL,
    call_id uuid NOT NULL,
    -- Its path in the folder of recordings.
    file text NOT NULL,
    duration_ms integer NOT NULL,
    size_bytes bigint NOT NULL,
    ready_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, call_id),
    FOREIGN KEY (book_id, call_id) REFERENCES voice_calls (book_id, id)
);
-- Recordings whose time is over are swept.
CREATE INDEX voice_recordings_by_time ON voice_recordings (ready_at);

-- How many calls there are by day, state, number, agent and reason.
CREATE TABLE voice_call_tallies (
    book_id uuid NOT NULL,
    period text NOT NULL,
    -- The first day of the period, in UTC.
    day date NOT NULL,
    status text NOT NULL,
    number_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    ended_reason text NOT NULL,
    -- Of calls that wait a slot per connection, so that two that are placed seldom wait for each
    -- other; calls end one by one.
    slot integer NOT NULL,
    calls bigint NOT NULL,
    PRIMARY KEY (book_id, period, day, status, number_id, agent_id, ended_reason, slot)
) WITH (fillfactor = 50);

-- Sound that agents play at steps of their scripts, in the place of an engine that speaks.
CREATE TABLE voice_prompts (
    book_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    script text NOT NULL,
    step text NOT NULL,
    text text NOT NULL,
    -- PCM of 16 bits, mono, 8 kHz.
    sound bytea NOT NULL,
    created_at timestamptz(3) NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    PRIMARY KEY (book_id, agent_id, script, step),
    FOREIGN KEY (book_id, agent_id) REFERENCES voice_agents (book_id, id)
);

-- How many calls a book may place in a day.
CREATE TABLE voice_settings (
    book_id uuid PRIMARY KEY REFERENCES books,
    calls_per_day integer NOT NULL CONSTRAINT voice_settings_calls_positive
        CHECK (calls_per_day >= 0),
    updated_at timestamptz(3) NOT NULL
);

-- How many calls a book placed on a day: a row that each placing locks and raises, so that no two
-- share the last place, and nothing is counted by looking at calls.
CREATE TABLE voice_days (
    book_id uuid NOT NULL REFERENCES books,
    -- By the clock of the business.
    day date NOT NULL,
    calls integer NOT NULL,
    PRIMARY KEY (book_id, day)
) WITH (fillfactor = 50);

-- A late report never moves a call back, and a call ends once, whoever writes.
CREATE FUNCTION refuse_voice_call_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a call that has ended stays as it is' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER voice_calls_end_once BEFORE UPDATE ON voice_calls
    FOR EACH ROW WHEN (OLD.ended_at IS NOT NULL AND (OLD.status <> NEW.status
        OR OLD.ended_at IS DISTINCT FROM NEW.ended_at))
    EXECUTE FUNCTION refuse_voice_call_change();

-- A call counts in its day, its month and for ever, or is taken back (times -1).
CREATE FUNCTION add_voice_call(counted voice_calls, times integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    made_on date := (counted.created_at AT TIME ZONE 'UTC')::date;
BEGIN
    -- Always in this order, so that two can't wait for each other.
    INSERT INTO voice_call_tallies AS t (book_id, period, day, status, number_id, agent_id,
        ended_reason, slot, calls)
    SELECT counted.book_id, p.period, p.day, counted.status, counted.number_id,
        counted.agent_id, coalesce(counted.ended_reason, ''),
        CASE counted.status WHEN 'queued' THEN pg_backend_pid() % 4 ELSE 0 END, times
    FROM (VALUES ('ever', date '0001-01-01'), ('month', date_trunc('month', made_on)::date),
        ('day', made_on)) p (period, day)
    ON CONFLICT (book_id, period, day, status, number_id, agent_id, ended_reason, slot)
        DO UPDATE SET calls = t.calls + excluded.calls;
END $$;

-- A call counts as waiting, then as under way, then by how it ended.
CREATE FUNCTION tally_voice_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.status = 'queued' THEN
        PERFORM add_voice_call(OLD, -1);
    END IF;
    IF NEW.status = 'queued' OR NEW.ended_at IS NOT NULL THEN
        PERFORM add_voice_call(NEW, 1);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER voice_calls_are_tallied AFTER INSERT ON voice_calls
    FOR EACH ROW EXECUTE FUNCTION tally_voice_call();
CREATE TRIGGER voice_calls_are_tallied_again AFTER UPDATE ON voice_calls
    FOR EACH ROW WHEN ((OLD.status = 'queued') <> (NEW.status = 'queued')
        OR (OLD.ended_at IS NULL) <> (NEW.ended_at IS NULL))
    EXECUTE FUNCTION tally_voice_call();
