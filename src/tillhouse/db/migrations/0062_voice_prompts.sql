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
