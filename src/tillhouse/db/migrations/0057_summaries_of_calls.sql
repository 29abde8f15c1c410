-- The conversation of a call in a sentence or two.
ALTER TABLE voice_calls ADD COLUMN summary text;
