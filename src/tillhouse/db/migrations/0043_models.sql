-- Agents whose conversations a language model leads.

ALTER TABLE voice_agents
    ADD COLUMN runtime text NOT NULL DEFAULT 'scripted' CONSTRAINT voice_agents_runtime_known
        CHECK (runtime IN ('scripted', 'chat')),
    ADD COLUMN model_url text,
    ADD COLUMN model_name text,
    -- The key that its server wants.
    ADD COLUMN model_key_sealed bytea,
    ADD CONSTRAINT voice_agents_chat_has_a_model
        CHECK (runtime <> 'chat' OR (model_url IS NOT NULL AND model_name IS NOT NULL));
