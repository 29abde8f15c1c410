"""The statement behind every API-key request."""

from collections.abc import Sequence

from asyncpg import Record

from tillhouse.db.pool import Db


async def check_keys(
    db: Db, digests: list[bytes], wanted: list[int], rate: int, burst: int
) -> Sequence[Record]:
    """Look up keys by digest and take `wanted` requests from each one's bucket.

    The bucket is a generic cell rate: `full_at` is when it would be full again. Rows are
    locked in key order, so two processes can't deadlock, and the clock is the database's,
    so all processes share it.
    """
    return await db.fetch(
        """
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
        LEFT JOIN spent s ON s.book_id = a.book_id AND s.key_id = a.id
        """,
        digests,
        wanted,
        rate,
        burst,
    )


async def delete_full_buckets(db: Db, for_s: float, limit: int) -> int:
    """Forget some buckets, of any book_id, that have been full for so long; how many."""
    done = await db.execute(
        """
        DELETE FROM rate_cells WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM rate_cells
            WHERE full_at < extract(epoch FROM clock_timestamp())::float8 - $1::float8
            LIMIT $2 FOR UPDATE SKIP LOCKED))
        """,
        for_s,
        limit,
    )
    return int(done.rpartition(" ")[2])
