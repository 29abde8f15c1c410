"""Every row of every table of a database, as text: what a restored copy is compared by."""

import asyncpg

# Unlogged tables are empty after a crash, so nothing may rest on their rows.
_TABLES = """
SELECT relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    AND relpersistence = 'p'
ORDER BY relname
"""

_ROWS = "SELECT t::text AS row FROM {} t"


async def rows_by_table(connection: asyncpg.Connection) -> dict[str, list[str]]:
    """The sorted rows of each table."""
    await connection.execute("SET timezone = 'UTC'")
    found: dict[str, list[str]] = {}
    for table in await connection.fetch(_TABLES):
        rows = await connection.fetch(_ROWS.format(table["relname"]))
        found[table["relname"]] = sorted(row["row"] for row in rows)
    return found
