"""How many messages a book may hold, and how much of what came may wait."""

from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID

import asyncpg
import msgspec
import pytest

from tests.api import Api
from tests.conftest import SETTINGS, fresh_database, running
from tests.make import Make
from tests.messaging.inbox_desk import INBOUND, TALKS, Inbox
from tests.messaging.whatsapp_business import PHONE, Line, said, signed, update
from tillhouse.app import PRODUCT, App, stored_kinds
from tillhouse.jobs.store import list_books_after
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id
from tillhouse.messaging.hooks import UPDATE
from tillhouse.messaging.storage.limits import WAITING_BYTES_MAX, WAITING_MAX
from tillhouse.messaging.storage.store import add_new_messages

LIMIT = 4
SIGNATURE = "x-hub-signature-256"


@pytest.fixture(scope="module")
async def limited_app(server_url: str, master_key: str) -> AsyncIterator[App]:
    """An application with a small quota, on a database of its own."""
    settings = msgspec.structs.replace(SETTINGS, message_limit=LIMIT)
    async with (
        fresh_database(server_url, "tillhouse_messages") as url,
        running(settings, url, master_key) as app,
    ):
        yield app


async def count(app: App) -> None:
    """Count as if a minute had passed, and let the process know."""
    services = app.services
    async with services.pool.transaction() as db:
        books = await list_books_after(db, UUID(int=0), 1000)
        while await add_new_messages(db, books, now() + timedelta(minutes=1), 3):
            pass
    await services.storage.measure(services.pool, stored_kinds(PRODUCT))


async def test_messages_are_counted_once_and_limited(limited_app: App) -> None:
    """Beyond the quota neither side writes; what is there can be read, and others go on."""
    make = Make(limited_app, limited_app.services)
    inbox = await Inbox.open(limited_app.services, await make.business())
    other = await Inbox.open(limited_app.services, await make.business())
    body = {"from": PHONE, "text": "Hello"}
    for _ in range(LIMIT):
        await inbox.api.post(INBOUND, body, status=201)
    await count(limited_app)
    await count(limited_app)
    refused = await inbox.api.post(INBOUND, body, status=409)
    assert refused.error == "limit_reached"
    assert "TILLHOUSE_MESSAGE_LIMIT " in refused.json["message"]
    talk = (await inbox.api.get(TALKS, status=200)).data[0]["id"]
    path = f"{TALKS}/{talk}/messages"
    await inbox.api.post(path, {"text": "Hi"}, status=409)
    assert len((await inbox.api.get(path, status=200)).data) == LIMIT
    await other.api.post(INBOUND, body, status=201)
    stored = limited_app.services.storage.stored["messages"]
    assert (stored.rows, stored.bytes > (LIMIT + 1) * 300) == (LIMIT + 1, True)


async def test_notes_and_conversations_are_counted_and_limited(limited_app: App) -> None:
    """Nobody needs a message to write: beyond the quota, what is there is still found."""
    make = Make(limited_app, limited_app.services)
    inbox = await Inbox.open(limited_app.services, await make.business())
    body = {"phone_number": PHONE}
    talk = (await inbox.api.post(TALKS, body, status=201)).data["id"]
    notes = f"{TALKS}/{talk}/notes"
    for number in range(LIMIT - 1):
        await count(limited_app)
        await inbox.api.post(notes, {"text": f"Note {number}"}, status=201)
    await count(limited_app)
    refused = await inbox.api.post(notes, {"text": "One too many"}, status=409)
    assert refused.error == "limit_reached"
    assert "TILLHOUSE_MESSAGE_LIMIT " in refused.json["message"]
    await inbox.api.post(TALKS, {"phone_number": "+2348030000099"}, status=409)
    assert (await inbox.api.post(TALKS, body)).data["id"] == talk
    assert len((await inbox.api.get(TALKS, status=200)).data) == 1
    assert len((await inbox.api.get(notes, status=200)).data) == LIMIT - 1


@pytest.mark.parametrize(("jobs", "size"), [(WAITING_MAX, 1), (1, WAITING_BYTES_MAX)])
async def test_so_much_may_wait(line: Line, sql: asyncpg.Connection, jobs: int, size: int) -> None:
    """Then WhatsApp is asked to come again; another business's hooks are taken meanwhile."""
    waits = """
        INSERT INTO jobs (book_id, id, kind, subject_id, payload, due_at, created_at)
        SELECT $1, new_id(now()), $2, new_id(now()), convert_to(repeat('a', $4), 'UTF8'),
            now() + interval '1 day', now()
        FROM generate_series(1, $3)
    """
    anybody, body = Api(line.api.app), update(messages=[said("Hi")])
    path, headers = line.number["hookPath"], {SIGNATURE: signed(body)}
    await sql.execute(waits, new_id(), UPDATE, jobs, size)
    await anybody.post(path, raw=body, headers=headers, status=200)
    await sql.execute(waits, line.kitchen.book.id, UPDATE, jobs, size)
    refused = await anybody.post(path, raw=body, headers=headers, status=429)
    assert int(refused.headers["retry-after"]) > 0
    await sql.execute("DELETE FROM jobs WHERE kind = $1 AND due_at > now()", UPDATE)
    await anybody.post(path, raw=body, headers=headers, status=200)
