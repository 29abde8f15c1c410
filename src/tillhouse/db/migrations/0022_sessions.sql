-- A refresh token names its session and a generation: each spent one is known without being kept.

-- Sessions opened before have a token by its digest; it counts as that of generation 0.
ALTER TABLE sessions ADD COLUMN refresh_generation integer NOT NULL DEFAULT 0;
ALTER TABLE sessions ALTER COLUMN refresh_digest DROP NOT NULL;
