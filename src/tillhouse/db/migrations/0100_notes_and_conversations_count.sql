-- Notes and conversations count in the quota of messages, each once, as messages do.
ALTER TABLE message_storage ALTER COLUMN counted_to DROP NOT NULL;
ALTER TABLE message_storage ADD COLUMN notes_counted_to uuid;
ALTER TABLE message_storage ADD COLUMN conversations_counted_to uuid;
