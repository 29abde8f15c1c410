"""Notices by mail: to the right people, once for each streak, whatever dies or refuses."""

import asyncio
import os
import secrets
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg
import pytest

from tests.conftest import fresh_database
from tests.providers.mail.server import MailServer
from tests.waiting import ended
from tests.webhooks.mailed import JOBS, Mailed, mailing_settings, open_mailed, race, working
from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import Shop, until
from tillhouse.access import attempts
from tillhouse.access.attempt_rules import Budget
from tillhouse.access.store import attempts as store
from tillhouse.app import App
from tillhouse.kit.clock import now
from tillhouse.providers.mail import jobs as mails
from tillhouse.settings import Settings
from tillhouse.webhooks.rules import ENDPOINTS_MAX

LATER = timedelta(minutes=5)


@pytest.fixture
async def mail_server() -> AsyncIterator[MailServer]:
    """The mail server of the installation."""
    server = await MailServer().start()
    yield server
    await server.stop()


@pytest.fixture(scope="module")
async def notices_url(server_url: str) -> AsyncIterator[str]:
    """A database whose webhooks these applications alone send."""
    async with fresh_database(server_url, "tillhouse_notices") as url:
        yield url


@pytest.fixture(scope="module")
async def notices_sql(notices_url: str) -> AsyncIterator[asyncpg.Connection]:
    """The owner of that database."""
    connection = await asyncpg.connect(notices_url)
    yield connection
    await connection.close()


@pytest.fixture
async def mailing_app(
    notices_url: str, sending_settings: Settings, master_key: str, mail_server: MailServer
) -> AsyncIterator[App]:
    """An application with a mail server."""
    settings = mailing_settings(sending_settings, mail_server.address())
    async with working(settings, notices_url, master_key) as app:
        yield app


@pytest.fixture
async def mailed(
    mailing_app: App, mail_server: MailServer, notices_sql: asyncpg.Connection
) -> Mailed:
    """A business there."""
    return await open_mailed(mailing_app, mail_server, notices_sql)


async def test_an_endpoint_that_fails_gives_two_mails_to_the_right_people(
    mailed: Mailed, mailing_app: App, receiver: Receiver, notices_sql: asyncpg.Connection
) -> None:
    """Owner, admin and developer hear before and at its end; nobody else, here or elsewhere."""
    told = {mailed.owner, await mailed.add_member("admin"), await mailed.add_member("developer")}
    for role in ("manager", "cashier", "front_desk"):
        await mailed.add_member(role)
    other = await open_mailed(mailing_app, mailed.server, notices_sql)
    endpoint = await mailed.endpoint(receiver)
    await mailed.shop.business.owner.patch(
        f"/api/developer/webhook-endpoints/{endpoint['id']}",
        {"url": f"{receiver.url}/s3cret/path?token=hushhush"},
        status=200,
    )
    await mailed.fail(receiver, 5)
    await mailed.sent()
    assert {taken.recipient for taken in mailed.mails("failing")} == told
    await mailed.fail(receiver, 10)
    await mailed.sent()
    assert {taken.recipient for taken in mailed.mails("disabled")} == told
    everything = mailed.mails("failing") + mailed.mails("disabled")
    assert len(everything) == 6 == len({taken.message["Message-ID"] for taken in everything})
    assert len(mailed.server.mails) == 6
    assert other.owner not in {taken.recipient for taken in mailed.server.mails}
    for taken in everything:
        assert endpoint["id"] in taken.text
        assert "http_500" in taken.text
        assert "s3cret" not in taken.text + taken.message["Subject"]
        assert "hushhush" not in taken.text
        assert "Environment:    test" in taken.text
        assert taken.message["To"] == taken.recipient
    since = (await mailed.shop.read(endpoint["id"]))["failingSince"]
    assert all(f"Failing since:  {since}" in taken.text for taken in everything)
    assert "After 10 more failures" in mailed.mails("failing")[0].text
    assert f"{endpoint['id']}/enable" in mailed.mails("disabled")[0].text
    assert f"{endpoint['id']}/recover" in mailed.mails("disabled")[0].text


@pytest.mark.proof
async def test_two_processes_send_one_mail(
    mailed: Mailed,
    mailing_app: App,
    receiver: Receiver,
    sending_settings: Settings,
    notices_url: str,
    master_key: str,
) -> None:
    """Both count the failures of forty events, and one of them disables the endpoint."""
    settings = mailing_settings(sending_settings, mailed.server.address())
    endpoint = await mailed.endpoint(receiver)
    receiver.status = 500
    async with working(settings, notices_url, master_key) as second:
        await race(mailing_app, second, shop=mailed.shop, events=20)

        async def is_disabled() -> bool:
            return (await mailed.shop.read(endpoint["id"]))["status"] == "disabled"

        await until(is_disabled)
        await mailed.sent()
    assert len(mailed.mails("disabled")) == 1
    # The first one is left out where the second is true by then.
    assert len(mailed.mails("failing")) <= 1
    assert len(await mailed.shop.audit("webhook_endpoint.disabled")) == 1


@pytest.mark.proof
async def test_an_endpoint_that_comes_and_goes_is_told_of_once_a_day(
    mailed: Mailed, receiver: Receiver
) -> None:
    """Each streak is in the audit log; of the mails the first one goes out."""
    await mailed.endpoint(receiver)
    for _ in range(3):
        await mailed.fail(receiver, 5)
        receiver.status = 200
        await mailed.sent()
        await mailed.shop.settled(await mailed.shop.emit())
    assert len(await mailed.shop.audit("webhook_endpoint.failing")) == 3
    assert len(mailed.mails("failing")) == 1


@pytest.mark.proof
async def test_a_mailbox_gets_no_more_than_ten_at_once(
    mailing_app: App, mail_server: MailServer, notices_sql: asyncpg.Connection, receiver: Receiver
) -> None:
    """Three businesses have it, spelled differently, with eight endpoints each that fail."""
    receiver.status = 500
    box = secrets.token_hex(8)
    for tag in ("", "+0", "+1+2"):
        business = await open_mailed(mailing_app, mail_server, notices_sql)
        await business.add_member("developer", f"{box}{tag}@example.com")
        for _ in range(ENDPOINTS_MAX):
            await business.endpoint(receiver)
        await business.shop.emit()

        async def are_noted(shop: Shop = business.shop) -> bool:
            return len(await shop.audit("webhook_endpoint.failing")) == ENDPOINTS_MAX

        await until(are_noted)
        await business.sent()
        told = [taken.recipient for taken in business.mails("failing")]
        assert told.count(business.owner) == ENDPOINTS_MAX
    assert len([taken for taken in mail_server.mails if taken.recipient.startswith(box)]) == 10


@pytest.mark.proof
async def test_the_whole_installation_sends_only_so_many(
    mailed: Mailed, mailing_app: App, receiver: Receiver, notices_sql: asyncpg.Connection
) -> None:
    """With its budget used up a notice is left out, and the audit log still tells."""
    services = mailing_app.services
    async with services.pool.transaction() as db:
        while await attempts.take(services, db, mails.HOUSE, mails.HOUSE_A_DAY):
            pass
    await mailed.endpoint(receiver)
    await mailed.fail(receiver, 5)
    await mailed.sent()
    assert len(await mailed.shop.audit("webhook_endpoint.failing")) == 1
    assert mailed.mails("failing") == []
    # The other tests of this database begin anew.
    await notices_sql.execute("DELETE FROM attempt_cells")


@pytest.mark.proof
@pytest.mark.parametrize(("budget", "most"), [(mails.MAILBOX_A_DAY, 20), (mails.HOUSE_A_DAY, 2000)])
async def test_a_budget_holds_in_any_24_hours(mailing_app: App, budget: Budget, most: int) -> None:
    """Asked for all at once, and then twice as often as it gives, for days."""
    subject, begun = secrets.token_bytes(32), now()
    taken: list[datetime] = []
    async with mailing_app.services.pool.transaction() as db:
        for place in range(3 * most):
            at = begun + max(0, place - most) * budget.every / 2
            if await store.take_attempt(db, subject, budget.every, budget.most, at):
                taken.append(at)
    windows = [
        sum(first <= at <= first + timedelta(days=1) for at in taken)
        for first in taken[:: most // 20]
    ]
    assert max(windows) == most


@pytest.mark.parametrize(
    ("email", "mailbox"),
    [
        ("Ada@Example.com", "ada@example.com"),
        ("ada+1@example.com", "ada@example.com"),
        ("ada+1+2@example.com", "ada@example.com"),
        ("+1@example.com", "@example.com"),
    ],
)
def test_the_mailbox_of_an_address(email: str, mailbox: str) -> None:
    """However it is spelled."""
    assert mails.mailbox_of(email) == mailbox


async def test_names_bring_no_links_into_a_mail(
    mailed: Mailed, receiver: Receiver, notices_sql: asyncpg.Connection
) -> None:
    """Nobody proves a name: one with a link is left out, a long one is cut."""
    await notices_sql.execute("UPDATE developer_apps SET name = 'Win at WWW.evil.example'")
    await mailed.endpoint(receiver, name=f"{'x' * 60}yz")
    await mailed.fail(receiver, 5)
    await mailed.sent()
    [taken] = mailed.mails("failing")
    assert "evil" not in taken.text
    assert "App:            (left out: it holds a link)" in taken.text
    assert f'"{"x" * 60}"' in taken.text
    await notices_sql.execute(
        "UPDATE businesses SET name = 'Claim https://evil.example/1' WHERE id = $1",
        UUID(mailed.shop.business.id),
    )
    await mailed.fail(receiver, 10)
    await mailed.sent()
    last = mailed.server.mails[-1]
    assert "endpoint disabled" in last.message["Subject"]
    assert "Business:       (left out: it holds a link)" in last.text


async def test_a_mail_is_tried_again_until_it_is_taken(mailed: Mailed, receiver: Receiver) -> None:
    """4xx puts it back, under the same Message-ID; 5xx for the recipient ends it."""
    await mailed.endpoint(receiver)
    mailed.server.replies["mail"].append("451 4.3.0 later")
    await mailed.fail(receiver, 5)
    await mailed.tried(1)
    assert mailed.mails("failing") == []
    await mailed.work(now() + LATER)
    assert len(mailed.mails("failing")) == 1
    mailed.server.replies["RCPT"].append("550 5.1.1 unknown")
    await mailed.fail(receiver, 10)
    await mailed.sent()
    assert mailed.mails("disabled") == []


async def test_a_late_mail_tells_nothing_that_is_over(mailed: Mailed, receiver: Receiver) -> None:
    """The receiver works again before the mail server does: there is nothing to tell."""
    await mailed.endpoint(receiver)
    mailed.server.replies["greeting"].append("421 not now")
    await mailed.fail(receiver, 5)
    await mailed.tried(1)
    receiver.status = 200
    await mailed.shop.settled(await mailed.shop.emit())
    await mailed.work(now() + LATER)
    assert await mailed.jobs() == 0
    assert mailed.mails("failing") == []


async def test_a_member_who_left_gets_no_mail(
    mailed: Mailed, receiver: Receiver, notices_sql: asyncpg.Connection
) -> None:
    """The role is looked at when the mail goes out."""
    left = await mailed.add_member("admin")
    await mailed.endpoint(receiver)
    mailed.server.replies["greeting"].extend(["421 not now"] * 2)
    await mailed.fail(receiver, 5)
    await mailed.tried(1)
    await notices_sql.execute(
        "UPDATE members SET role = 'cashier' "
        "WHERE user_id = (SELECT id FROM users WHERE email = $1)",
        left,
    )
    await mailed.work(now() + LATER)
    assert [taken.recipient for taken in mailed.mails("failing")] == [mailed.owner]


async def test_without_a_mail_server_nothing_is_queued(
    sender: Shop, receiver: Receiver, sending_sql: asyncpg.Connection
) -> None:
    """The audit log alone tells."""
    await sender.endpoint(receiver.url)
    receiver.status = 500
    await sender.settled(await sender.emit())
    assert len(await sender.audit("webhook_endpoint.failing")) == 1
    assert await sending_sql.fetchval(JOBS, (await sender.book()).id) == 0


@pytest.mark.proof
async def test_a_process_that_dies_with_the_mail_sent_sends_it_again_as_the_same(
    mailed: Mailed, receiver: Receiver, notices_url: str, master_key: str
) -> None:
    """Killed between the mail and its record: the lease ends, and the repeat has the same id."""
    server = mailed.server
    await mailed.endpoint(receiver)
    server.replies["greeting"].append("421 not now")
    await mailed.fail(receiver, 5)
    await mailed.tried(1)
    processes: list[Process] = []
    server.on_mail = lambda: os.kill(processes[0].pid, signal.SIGKILL)
    processes.append(
        await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.webhooks.notice_process",
            notices_url,
            master_key,
            str(server.port),
        )
    )
    assert await ended(processes[0].wait()) == -signal.SIGKILL
    server.on_mail = lambda: None
    assert len(mailed.mails("failing")) == 1
    assert await mailed.jobs() == 1
    await mailed.work(now() + 3 * LATER)
    assert await mailed.jobs() == 0
    first, second = mailed.mails("failing")
    assert first.message["Message-ID"] == second.message["Message-ID"]
    assert first.raw == second.raw
