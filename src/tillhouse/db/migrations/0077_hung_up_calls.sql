-- Calls that somebody ends from outside: the process that makes the call looks every second.
ALTER TABLE voice_calls ADD COLUMN hang_up_at timestamptz(3);

-- Premium and satellite numbers that may be called from a number, by the beginnings of theirs.
ALTER TABLE voice_numbers ADD COLUMN allowed_prefixes text[] NOT NULL DEFAULT '{}';
