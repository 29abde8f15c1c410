"""How long messages and their files are kept, and what is told of what a book holds."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest

from tests.api import Api
from tests.conftest import SETTINGS, fresh_database, running
from tests.make import Make
from tests.messaging import files
from tests.messaging.inbox_desk import INBOUND, TALKS, Inbox
from tests.messaging.test_attachments import ATTACHMENTS, announce, fetch, send_bytes, upload
from tests.messaging.whatsapp_business import later
from tests.payouts.wallets import book_of
from tests.sweeping import sweep, until_first_run
from tests.waiting import within
from tillhouse.app import App
from tillhouse.jobs.store import list_books_after
from tillhouse.kit.clock import now
from tillhouse.messaging.attachments.store import delete_unused
from tillhouse.messaging.storage.store import add_new_messages

DAYS = 30
FILES = 3
BLOCKED = "SELECT 1 FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))"
USAGE = "/api/developer/usage"


@pytest.fixture(scope="module")
async def url(server_url: str) -> AsyncIterator[str]:
    """A database of its own."""
    async with fresh_database(server_url, "tillhouse_retention") as url:
        yield url


@pytest.fixture(scope="module")
async def app(url: str, master_key: str) -> AsyncIterator[App]:
    """An application that keeps messages for a month, and three files of each book."""
    settings = msgspec.structs.replace(
        SETTINGS, message_retention_days=DAYS, attachment_limit=FILES, attachment_limit_mib=1
    )
    async with running(settings, url, master_key) as app:
        await until_first_run(app.services, "message_retention", "message_storage")
        yield app


@pytest.fixture
async def inbox(app: App) -> Inbox:
    """An inbox of a business of its own."""
    return await Inbox.open(app.services, await Make(app, app.services).business())


@pytest.fixture
async def rows(url: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection to that database."""
    connection = await asyncpg.connect(url)
    yield connection
    await connection.close()


async def age(rows: asyncpg.Connection, talk: str, days: int) -> None:
    """Let all that was said in a conversation be so old."""
    moment = now() - timedelta(days=days)
    await rows.execute(
        "UPDATE messages SET id = new_id($2), created_at = $2 WHERE conversation_id = $1::uuid",
        talk, moment,
    )  # fmt: skip
    await rows.execute(
        "UPDATE conversations SET last_message_at = $2 WHERE id = $1::uuid", talk, moment
    )


async def count(app: App) -> None:
    """Count the messages as if a minute had passed."""
    async with app.services.pool.transaction() as db:
        books = await list_books_after(db, UUID(int=0), 1000)
        while await add_new_messages(db, books, now() + timedelta(minutes=1), 1000):
            pass


async def held(inbox: Inbox, kind: str) -> dict[str, Any]:
    """The count of the test book, as it is told beside the usage."""
    answer = await inbox.business.owner.get(USAGE, status=200)
    [found] = [
        one for one in answer.json["storage"] if (one["kind"], one["environment"]) == (kind, "test")
    ]
    return found


async def test_what_is_older_than_the_retention_goes(
    app: App, inbox: Inbox, rows: asyncpg.Connection
) -> None:
    """With its file, its notes and its count; what is younger stays, whoever wrote it."""
    old, young = await inbox.hear(1), await inbox.hear(2)
    file = await upload(inbox.api, files.PDF)
    body = {"from": "+2348030000001", "attachment_id": file, "text": "Look"}
    await inbox.api.post(INBOUND, body, status=201)
    await inbox.api.post(f"{TALKS}/{old}/notes", {"text": "A regular"}, status=201)
    await age(rows, old, DAYS + 1)
    await age(rows, young, DAYS - 1)
    await count(app)
    assert (await held(inbox, "messages"))["storedRows"] == 3 + 1 + 2
    await sweep(app.services, "message_retention")
    await inbox.api.get(f"{TALKS}/{old}", status=404)
    await inbox.api.get(f"{ATTACHMENTS}/{file}", status=404)
    assert len((await inbox.api.get(f"{TALKS}/{young}/messages", status=200)).data) == 1
    listed = await inbox.api.get(TALKS, status=200)
    assert [one["id"] for one in listed.data] == [young]
    assert (
        await rows.fetchval(
            "SELECT count(*) FROM conversation_notes WHERE conversation_id = $1::uuid", old
        )
        == 0
    )
    stored = await held(inbox, "messages")
    assert (stored["storedRows"], stored["storedBytes"] > 0) == (1 + 1, True)
    assert (await held(inbox, "attachments"))["storedBytes"] == 0
    # The customer writes again: a new conversation begins.
    assert await inbox.hear(1) != old


async def test_a_conversation_that_goes_on_loses_its_old_messages_alone(
    app: App, inbox: Inbox, rows: asyncpg.Connection
) -> None:
    """A file that a younger message names stays as well."""
    talk = await inbox.hear(1)
    path, file = f"{TALKS}/{talk}/messages", await upload(inbox.api, files.PDF)
    await inbox.api.post(path, {"attachment_id": file}, status=201)
    await inbox.work()
    await age(rows, talk, DAYS + 1)
    await inbox.api.post(path, {"attachment_id": file}, status=201)
    await inbox.work()
    await count(app)
    await sweep(app.services, "message_retention")
    assert len((await inbox.api.get(path, status=200)).data) == 1
    assert (await fetch(inbox.api, file)).body == files.PDF


async def test_nothing_goes_that_was_not_counted(
    app: App, inbox: Inbox, rows: asyncpg.Connection
) -> None:
    """Or the count would be wrong for ever."""
    talk = await inbox.hear(1)
    await age(rows, talk, DAYS + 1)
    await sweep(app.services, "message_retention")
    assert len((await inbox.api.get(f"{TALKS}/{talk}/messages", status=200)).data) == 1
    empty = (await inbox.api.post(TALKS, {"phone_number": "+2348030000002"}, status=201)).data["id"]
    await count(app)
    await inbox.api.post(f"{TALKS}/{empty}/notes", {"text": "Not counted yet"}, status=201)
    await age(rows, empty, DAYS + 1)
    await sweep(app.services, "message_retention")
    await inbox.api.get(f"{TALKS}/{empty}", status=200)
    await count(app)
    await sweep(app.services, "message_retention")
    await inbox.api.get(f"{TALKS}/{empty}", status=404)


async def test_an_upload_that_is_never_sent_vanishes(app: App, inbox: Inbox) -> None:
    """After a month, and its bytes with it; one that a message names stays."""
    unused, used = await upload(inbox.api, files.PDF), await upload(inbox.api, files.JPEG)
    talk = await inbox.hear(1)
    await inbox.api.post(f"{TALKS}/{talk}/messages", {"attachment_id": used}, status=201)
    await inbox.work(later(days=29))
    assert (await fetch(inbox.api, unused)).body == files.PDF
    await inbox.work(later(days=31))
    await inbox.api.get(f"{ATTACHMENTS}/{unused}", status=404)
    assert (await fetch(inbox.api, used)).body == files.JPEG
    stored = await held(inbox, "attachments")
    assert (stored["storedRows"], stored["storedBytes"]) == (1, len(files.JPEG))


async def test_an_upload_that_never_came_vanishes_within_hours(
    app: App, inbox: Inbox, rows: asyncpg.Connection
) -> None:
    """Its address was good for an hour."""
    announced = await announce(inbox.api)
    aged = "UPDATE messaging_attachments SET created_at = now() - $2::interval WHERE id = $1::uuid"
    await rows.execute(aged, announced["id"], timedelta(hours=2))
    await sweep(app.services, "attachments_awaited")
    await inbox.api.get(f"{ATTACHMENTS}/{announced['id']}", status=200)
    await rows.execute(aged, announced["id"], timedelta(hours=4))
    await sweep(app.services, "attachments_awaited")
    assert (await send_bytes(inbox.api, announced, files.PDF)).status == 404


async def test_no_upload_goes_beyond_the_quota(inbox: Inbox) -> None:
    """However many come at once, before any process has measured: the address goes with them."""
    announced = [await announce(inbox.api) for _ in range(2 * FILES)]
    answers = await asyncio.gather(*(send_bytes(inbox.api, one, files.PDF) for one in announced))
    assert sorted(answer.status for answer in answers) == [200] * FILES + [409] * FILES
    refused = next(answer for answer in answers if answer.status == 409)
    assert "TILLHOUSE_ATTACHMENT_LIMIT " in refused.json["message"]
    stored = await held(inbox, "attachments")
    assert (stored["storedRows"], stored["rowsMax"], stored["bytesMax"]) == (FILES, FILES, 1 << 20)


async def test_nor_beyond_its_bytes(inbox: Inbox) -> None:
    """A file too large for what is left is refused, and its address leads nowhere."""
    announced = await announce(inbox.api)
    large = files.PDF.ljust((1 << 20) + 1, b"x")
    answer = await send_bytes(inbox.api, announced, large)
    assert (answer.status, "TILLHOUSE_ATTACHMENT_LIMIT_MIB" in answer.json["message"]) == (
        409,
        True,
    )
    assert (await send_bytes(inbox.api, announced, files.PDF)).status == 404
    assert (await held(inbox, "attachments"))["storedBytes"] == 0


async def test_a_file_that_goes_while_it_is_sent(
    app: App, inbox: Inbox, rows: asyncpg.Connection
) -> None:
    """The message waits for the sweeper, and is refused in the words of its rule."""
    talk, file = await inbox.hear(1), await upload(inbox.api, files.PDF)
    book_id = await book_of(app.services, inbox.business)
    async with app.services.pool.transaction() as db:
        await delete_unused(db, [book_id], [UUID(file)])
        path = f"{TALKS}/{talk}/messages"
        sending = asyncio.create_task(inbox.api.post(path, {"attachment_id": file}))
        pid = await db.fetchval("SELECT pg_backend_pid()")
        async with within():
            while not await rows.fetchval(BLOCKED, pid):  # noqa: ASYNC110 - PostgreSQL tells
                await asyncio.sleep(0.01)
    refused = await sending
    assert (refused.status, refused.wrong_fields) == (422, {"attachment_id"})


async def test_usage_tells_what_both_books_hold(inbox: Inbox) -> None:
    """Each kind that can be limited, of each environment."""
    answer = await inbox.business.owner.get(USAGE, status=200)
    found = {(one["environment"], one["kind"]) for one in answer.json["storage"]}
    kinds = ("answers", "attachments", "messages", "orders")
    assert found == {(environment, kind) for environment in ("test", "live") for kind in kinds}
    assert await Api(inbox.api.app).get(USAGE, status=401)
