"""An installation that mails notices: its mail server, its businesses and their people."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from uuid import UUID

import asyncpg
import msgspec

from tests.providers.mail.server import MailServer, Taken
from tests.waiting import ended
from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import Json, Shop, until
from tillhouse.app import App
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.kit.smtp import SmtpServer
from tillhouse.settings import Settings
from tillhouse.webhooks import mailing

SENDER = "till@shop.example"
JOBS = (
    "SELECT count(*) FROM jobs WHERE kind = 'webhook_notice' AND book_id = $1 AND dead_at IS NULL"
)


def mailing_settings(settings: Settings, server: SmtpServer) -> Settings:
    """The same, with a mail server."""
    return msgspec.structs.replace(settings, smtp_url=server, mail_from=SENDER)


@asynccontextmanager
async def working(settings: Settings, url: str, master_key: str) -> AsyncIterator[App]:
    """An application that sends webhooks and mails, as long as the block lasts."""
    app = App(settings, url, master_key, runs_workers=True)
    await app.start()
    try:
        yield app
    finally:
        await app.stop()


class Mailed:
    """A business with an endpoint, and the mails about it."""

    def __init__(self, shop: Shop, server: MailServer, sql: asyncpg.Connection) -> None:
        self.shop, self.server, self._sql = shop, server, sql

    @property
    def owner(self) -> str:
        """The address of the owner."""
        return self.shop.business.email

    async def add_member(self, role: str, email: str | None = None) -> str:
        """Somebody of the business, perhaps of others, too; the address."""
        email = email or f"{role}-{secrets.token_hex(4)}@example.com"
        await self._sql.execute(
            """
            INSERT INTO users (id, email, name, password_hash, created_at, password_changed_at)
            VALUES (gen_random_uuid(), $1, 'Member', '', now(), now()) ON CONFLICT DO NOTHING
            """,
            email,
        )
        await self._sql.execute(
            """
            INSERT INTO members (business_id, user_id, role, created_at)
            SELECT $1, id, $3, now() FROM users WHERE email = $2
            """,
            UUID(self.shop.business.id),
            email,
            role,
        )
        return email

    async def fail(self, receiver: Receiver, failures: int = 5) -> None:
        """Let deliveries fail, five attempts each."""
        receiver.status = 500
        for _ in range(failures // 5):
            await self.shop.settled(await self.shop.emit())

    async def jobs(self) -> int:
        """How many mails are queued."""
        return await self._sql.fetchval(JOBS, (await self.shop.book()).id)

    async def sent(self) -> None:
        """Wait until no mail is queued any more."""

        async def are_gone() -> bool:
            return await self.jobs() == 0

        await until(are_gone)

    async def tried(self, attempts: int) -> None:
        """Wait until each mail that is queued was tried so often and is put back."""
        query = (
            "SELECT bool_and(attempts = $2 AND NOT is_leased) FROM jobs "
            "WHERE kind = 'webhook_notice' AND book_id = $1"
        )

        async def are_tried() -> bool:
            return bool(await self._sql.fetchval(query, (await self.shop.book()).id, attempts))

        await until(are_tried)

    def mails(self, word: str) -> list[Taken]:
        """Those about the business's endpoints that say `failing` or `disabled`."""
        return [
            taken
            for taken in self.server.mails
            if f"endpoint {word}:" in taken.message["Subject"]
            and f"Business:       {self.name}" in taken.text
        ]

    @property
    def name(self) -> str:
        """The business's, which only its own mails have."""
        return f"Ada {self.shop.business.id}"

    async def give_name(self) -> None:
        """Give the business the name that it is known by."""
        await self._sql.execute(
            "UPDATE businesses SET name = $2 WHERE id = $1", UUID(self.shop.business.id), self.name
        )

    async def work(self, at: datetime | None = None) -> None:
        """Send what is due then."""
        services = self.shop.services
        kinds = (mailing.kind(services, within_s=5.0),)
        await ended(JobRunner(services.pool, kinds, services.job_results).run_due(at or now()))

    async def endpoint(self, receiver: Receiver, **fields: str) -> Json:
        """An endpoint at a receiver."""
        return await self.shop.endpoint(receiver.url, **fields)


async def open_mailed(app: App, server: MailServer, sql: asyncpg.Connection) -> Mailed:
    """A new business."""
    made = Mailed(await Shop.open(app), server, sql)
    await made.give_name()
    return made


async def race(*apps: App, shop: Shop, events: int) -> None:
    """Let events happen in several processes at once."""
    others = [Shop(app, shop.business) for app in apps]
    await asyncio.gather(*(other.emit() for other in others for _ in range(events)))
