"""Delete a business with all of its rows, append-only ones included.

Where the role may, foreign keys and triggers rest for this transaction alone. Elsewhere the
triggers rest for everybody, who then wait, and tables go in the order of their foreign keys.
"""

from collections.abc import Sequence
from uuid import UUID

import asyncpg

from tillhouse.db.backup import HERE, quoted

OWNED = f"""
SELECT c.relname AS name, a.attname AS column
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = {HERE} AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND a.attname IN ('book_id', 'business_id') AND NOT a.attisdropped
ORDER BY a.attname, c.relname
"""

REFERENCES = f"""
SELECT DISTINCT conrelid::regclass::text AS child, confrelid::regclass::text AS parent
FROM pg_constraint
WHERE connamespace = {HERE} AND contype = 'f' AND conparentid = 0 AND conrelid <> confrelid
"""

KEEPING = f"""
SELECT DISTINCT tgrelid::regclass::text AS name FROM pg_trigger t
JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = {HERE} AND NOT t.tgisinternal AND t.tgparentid = 0
    AND c.relname = ANY ($1)
"""

MAY_REST = "SELECT has_parameter_privilege('session_replication_role', 'SET')"

# With triggers at rest, nothing goes along with a person by itself.
LONELY_FACTORS = """
DELETE FROM second_factors f WHERE f.user_id = ANY ($1)
    AND NOT EXISTS (SELECT FROM members m WHERE m.user_id = f.user_id)
"""
LONELY_LINKS = """
DELETE FROM password_links l WHERE l.user_id = ANY ($1)
    AND NOT EXISTS (SELECT FROM members m WHERE m.user_id = l.user_id)
"""
LONELY = """
DELETE FROM users u WHERE u.id = ANY ($1)
    AND NOT EXISTS (SELECT FROM members m WHERE m.user_id = u.id)
"""


async def find_name(connection: asyncpg.Connection, business_id: UUID) -> str | None:
    """The name of a business."""
    return await connection.fetchval("SELECT name FROM businesses WHERE id = $1", business_id)


async def delete_business(connection: asyncpg.Connection, business_id: UUID) -> int:
    """Delete everything of a business, and the people who belong to no other; how many rows."""
    async with connection.transaction():
        # Requests under way end first; those that come later find no book.
        found = await connection.fetch(
            "SELECT id FROM books WHERE business_id = $1 FOR UPDATE", business_id
        )
        books = [row["id"] for row in found]
        people = await connection.fetch(
            "SELECT user_id FROM members WHERE business_id = $1", business_id
        )
        owned = await connection.fetch(OWNED)
        names = _children_first(
            list({row["name"] for row in owned}), await connection.fetch(REFERENCES)
        )
        columns = {(row["name"], row["column"]) for row in owned}
        resting = await _rest(connection, names)
        count = 0
        for name in names:
            for column, wanted in (("book_id", books), ("business_id", [business_id])):
                if (name, column) in columns:
                    count += await _delete(connection, name, column, wanted)
        count += await _delete(connection, "businesses", "id", [business_id])
        user_ids = [row["user_id"] for row in people]
        for statement in (LONELY_FACTORS, LONELY_LINKS):
            await connection.execute(statement, user_ids)
        done = await connection.execute(LONELY, user_ids)
        for name in resting:
            await connection.execute(f"ALTER TABLE {name} ENABLE TRIGGER USER")
        return count + _counted(done)


async def _rest(connection: asyncpg.Connection, names: list[str]) -> list[str]:
    """Let the triggers of these tables rest; those to be switched on again."""
    if await connection.fetchval(MAY_REST):
        await connection.execute("SET LOCAL session_replication_role = replica")
        return []
    resting = [row["name"] for row in await connection.fetch(KEEPING, names)]
    for name in resting:
        await connection.execute(f"ALTER TABLE {name} DISABLE TRIGGER USER")
    return resting


def _children_first(names: list[str], references: Sequence[asyncpg.Record]) -> list[str]:
    left, ordered = sorted(names), list[str]()
    while left:
        parents = {row["parent"] for row in references if row["child"] in left}
        free = [name for name in left if name not in parents] or left[:1]
        ordered += free
        left = [name for name in left if name not in free]
    return ordered


async def _delete(
    connection: asyncpg.Connection, table: str, column: str, wanted: list[UUID]
) -> int:
    statement = f"DELETE FROM {quoted(table)} WHERE {column} = ANY ($1)"
    return _counted(await connection.execute(statement, wanted))


def _counted(done: str) -> int:
    return int(done.removeprefix("DELETE "))
