"""Work that was queued before there were jobs becomes jobs."""

import asyncio
import os

import asyncpg

from tillhouse.db.migrate import load

_MESSAGES = """
    INSERT INTO businesses (id, name, type, currency, time_zone, country,
        master_version, wrapped_data_key, created_at, updated_at)
    VALUES ('00000000-0000-7000-8000-000000000001', 'Old', 'retail', 'NGN', 'UTC',
        'NG', 1, '', now(), now());
    INSERT INTO books (id, business_id, environment)
    SELECT '00000000-0000-7000-8000-000000000002', id, 'test' FROM businesses;
    INSERT INTO messaging_numbers (book_id, id, provider, phone_number, status, created_at,
        updated_at)
    SELECT id, id, 'whatsapp', '+1', 'active', now(), now() FROM books;
    INSERT INTO conversations (book_id, id, customer_phone, last_message_at, created_at,
        updated_at)
    SELECT id, gen_random_uuid(), phone, now(), now(), now()
    FROM books, unnest(ARRAY['+15550100003', '+15550100004', '+15550100005']) phone;
    INSERT INTO messages (book_id, id, conversation_id, direction, type, text, delivery_status,
        provider, number_id, due_at, attempts, created_at, updated_at)
    SELECT c.book_id, gen_random_uuid(), c.id, 'outbound', 'text', status, status, 'x', c.book_id,
        CASE WHEN is_due THEN now() END, 2, now(), now()
    FROM conversations c, unnest(ARRAY['queued', 'sending', 'sent', 'read'],
        ARRAY[true, true, c.customer_phone <> '+15550100003', false]) s (status, is_due);
    INSERT INTO messaging_inbox (book_id, id, number_id, body, attempts, due_at, received_at)
    SELECT id, gen_random_uuid(), id, body, 3, due_at, now()
    FROM books, unnest(ARRAY['a'::bytea, 'b'], ARRAY[now(), NULL]) s (body, due_at);
"""


async def test_rows_that_were_queued_become_jobs(server_url: str) -> None:
    """With their attempts; a message that somebody was sending is leased, a dead update dead."""
    name = f"tillhouse_before_jobs_{os.getpid()}"
    admin = await asyncpg.connect(server_url)
    await admin.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
    connection = await asyncpg.connect(server_url, database=name)
    try:
        steps = load()
        place = [step.name for step in steps].index("jobs")
        for step in steps[:place]:
            await connection.execute(step.sql)
        await connection.execute(_MESSAGES)
        await connection.execute(steps[place].sql)
        rows = await connection.fetch(
            """
            SELECT j.kind, m.text, convert_from(j.payload, 'UTF8') AS payload, j.is_leased,
                j.attempts, j.dead_at IS NOT NULL AS is_dead, count(*) AS count
            FROM jobs j LEFT JOIN messages m ON m.book_id = j.book_id AND m.id = j.subject_id
            GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3
            """
        )
    finally:
        await connection.close()
        await asyncio.shield(admin.execute(f"DROP DATABASE {name} WITH (FORCE)"))
        await admin.close()
    failed = '{"status":"failed","error":"131026: Message undeliverable"}'
    assert [tuple(row) for row in rows] == [
        ("message", "queued", None, False, 2, False, 3),
        ("message", "sending", None, True, 2, False, 3),
        ("message_report", "sent", failed, False, 0, False, 1),
        ("message_report", "sent", '{"status":"read"}', False, 0, False, 1),
        ("whatsapp_update", None, "a", False, 3, False, 1),
        ("whatsapp_update", None, "b", False, 3, True, 1),
    ]
