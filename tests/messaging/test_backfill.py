"""Books that were there before there were messages."""

import asyncpg

from tests.conftest import fresh_database
from tillhouse.db.migrate import load


async def test_every_test_book_gets_its_number(server_url: str) -> None:
    """The migration gives the sandbox's number to test books, and to them alone."""
    async with fresh_database(server_url, "tillhouse_backfill") as url:
        connection = await asyncpg.connect(url)
        try:
            await _undo(connection)
            await connection.execute(
                """
                INSERT INTO businesses (id, name, type, currency, time_zone, country,
                    master_version, wrapped_data_key, created_at, updated_at)
                VALUES ('00000000-0000-7000-8000-000000000001', 'Old', 'retail', 'NGN', 'UTC',
                    'NG', 1, '', now(), now());
                INSERT INTO books (id, business_id, environment)
                SELECT gen_random_uuid(), id, e
                FROM businesses, unnest(ARRAY['test', 'live']) AS e;
                """
            )
            (messaging,) = [one for one in load() if one.name == "messaging"]
            await connection.execute(messaging.sql)
            found = await connection.fetch(
                """
                SELECT b.environment, n.provider, n.phone_number, n.status
                FROM messaging_numbers n JOIN books b ON b.id = n.book_id
                """
            )
        finally:
            await connection.close()
    assert [tuple(row) for row in found] == [("test", "sandbox", "+15550100000", "active")]


async def _undo(connection: asyncpg.Connection) -> None:
    """Take back what the migration made."""
    for table in (
        "stage_messages", "messages", "conversation_notes", "conversations",
        "messaging_attachments", "messaging_numbers",
    ):  # fmt: skip
        await connection.execute(f"DROP TABLE {table}")
