-- The keys of all requests that wait at this moment.
-- src/tillhouse/access/store/keys.py: check_keys
--   $1 digests bytea[]
--   $2 wanted int4[]
--   $3 rate float8
--   $4 burst int4
PREPARE key_check (bytea[], int4[], float8, int4) AS
WITH asked AS (
    SELECT k.book_id, k.id, k.secret_digest, k.xmin, a.wanted,
        k.revoked_at IS NULL
            AND coalesce(k.expires_at > clock_timestamp(), true) AS is_usable
    FROM unnest($1::bytea[], $2::int[]) AS a (digest, wanted)
    JOIN api_keys k ON k.secret_digest = a.digest
), spent AS (
    INSERT INTO rate_cells AS cell (book_id, key_id, full_at, granted)
    SELECT book_id, id,
        extract(epoch FROM clock_timestamp())::float8
            + least(wanted, $4::int) / $3::float8,
        least(wanted, $4::int)
    FROM asked WHERE is_usable AND $3::int > 0 ORDER BY book_id, id
    ON CONFLICT (book_id, key_id) DO UPDATE SET (full_at, granted) = (
        SELECT b.base + g.granted / $3::float8, g.granted
        FROM (SELECT extract(epoch FROM clock_timestamp())::float8 AS moment) t,
            LATERAL (SELECT greatest(cell.full_at, t.moment) AS base) b,
            LATERAL (SELECT greatest(0, least(excluded.granted, floor(
                (t.moment - b.base) * $3::float8 + $4::int + 1e-6)::int
            )) AS granted) g
    )
    RETURNING cell.book_id, cell.key_id, cell.granted,
        cell.full_at - extract(epoch FROM clock_timestamp())::float8 AS full_in_s
)
SELECT a.secret_digest, a.is_usable, a.xmin::text AS version,
    coalesce(s.granted, 0) AS granted, coalesce(s.full_in_s, 0) AS full_in_s,
    k.id, k.book_id, b.environment, b.business_id, k.developer_app_id, k.name,
    k.scopes, k.allowed_origins, k.allowed_ip_ranges, k.withdrawal_policy
FROM asked a
JOIN api_keys k ON k.book_id = a.book_id AND k.id = a.id
JOIN books b ON b.id = a.book_id
LEFT JOIN spent s ON s.book_id = a.book_id AND s.key_id = a.id;
