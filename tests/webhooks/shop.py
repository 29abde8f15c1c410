"""A business that has webhooks: its endpoints and deliveries, and events that happen to it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from uuid import UUID

import msgspec

from tests.make import Business, Make
from tests.waiting import HUNG_S, within
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.app import PRODUCT, App
from tillhouse.db.pool import Db
from tillhouse.kit.clock import iso, now
from tillhouse.kit.ids import new_id
from tillhouse.kit.secrets import Environment
from tillhouse.webhooks.emit import Source, emit_from
from tillhouse.webhooks.events import ChangeData

Json = dict[str, Any]
EVENTS = {event.name: event for event in PRODUCT.declared.events}
T = TypeVar("T")

PORTAL = "/api/developer"
ENDPOINTS = f"{PORTAL}/webhook-endpoints"
DELIVERIES = f"{PORTAL}/webhook-deliveries"
SETTINGS = f"{PORTAL}/webhook-settings"
# A public address, so that saving it asks no name server.
URL = "https://198.41.0.4/hook"


async def until(look: Callable[[], Awaitable[T | None]], within_s: float = HUNG_S) -> T:
    """Look until there is something to see."""
    async with within(within_s):
        while not (found := await look()):  # noqa: ASYNC110 - the log notifies nobody
            await asyncio.sleep(0.01)
        return found


class Shop:
    """A business and the application that it is registered with."""

    def __init__(self, app: App, business: Business) -> None:
        self.app = app
        self.business = business
        self.owner = business.owner
        self._books: dict[str, Book] = {}

    @classmethod
    async def open(cls, app: App) -> "Shop":
        """A new business."""
        return cls(app, await Make(app, app.services).business())

    @property
    def services(self) -> Services:
        """The tools of the application's process."""
        return self.app.services

    async def endpoint(self, url: str = URL, *, status: int = 201, **fields: Any) -> Json:
        """Make an endpoint for order.created."""
        body = {"name": "Shop hook", "url": url, "environment": "test", "events": ["order.created"]}
        answer = await self.owner.post(ENDPOINTS, {**body, **fields}, status=status)
        return answer.data if status == 201 else answer.json

    async def read(self, endpoint_id: str) -> Json:
        """An endpoint as it stands."""
        return (await self.owner.get(f"{ENDPOINTS}/{endpoint_id}", status=200)).data

    async def act(self, endpoint_id: str, verb: str, body: Json | None = None) -> Json:
        """Disable, enable, test or recover an endpoint."""
        answer = await self.owner.post(f"{ENDPOINTS}/{endpoint_id}/{verb}", body)
        assert answer.status in (200, 202), answer
        return answer.data

    async def app_of(self, environment: str = "test") -> str:
        """A new developer app's id."""
        body = {"name": "Another app", "environment": environment}
        return (await self.owner.post(f"{PORTAL}/apps", body, status=201)).data["id"]

    async def book(self, environment: Environment = "test") -> Book:
        """One of the business's books."""
        if not self._books:
            async with self.services.pool.reading() as db:
                rows = await db.fetch(
                    "SELECT id, environment FROM books WHERE business_id = $1",
                    UUID(self.business.id),
                )
            self._books = {row["environment"]: Book(row["id"], row["environment"]) for row in rows}
        return self._books[environment]

    def change(self, event: str = "order.created") -> ChangeData:
        """The event of a changed order."""
        return ChangeData(
            business_id=UUID(self.business.id),
            event_type=event.upper().replace(".", "_"),
            entity_type="sale",
            entity_id=new_id(),
            store_id=None,
            metadata={"total": 12},
            occurred_at=iso(now()),
        )

    async def emit(
        self,
        event: str = "order.created",
        *,
        environment: Environment = "test",
        app_id: str | None = None,
        data: msgspec.Struct | None = None,
    ) -> str:
        """An event in a transaction of its own; its id."""
        book = await self.book(environment)
        async with self.services.pool.transaction() as db:
            return await self.emit_in(db, book, event, app_id, data)

    async def emit_in(
        self,
        db: Db,
        book: Book,
        event: str = "order.created",
        app_id: str | None = None,
        data: msgspec.Struct | None = None,
    ) -> str:
        """An event in somebody's transaction; its id."""
        origin = Source(UUID(self.business.id), book, UUID(app_id) if app_id else None)
        return str(await emit_from(db, origin, EVENTS[event], data or self.change(event), now()))

    async def deliveries(self, query: str = "") -> list[Json]:
        """The log."""
        return (await self.owner.get(f"{DELIVERIES}?{query}", status=200)).data

    async def delivery(self, delivery_id: str) -> Json:
        """One delivery with its attempts."""
        return (await self.owner.get(f"{DELIVERIES}/{delivery_id}", status=200)).data

    async def delivery_of(self, event_id: str) -> Json:
        """The one delivery of an event."""
        [found] = await self.deliveries(f"event_id={event_id}")
        return await self.delivery(found["id"])

    async def settled(self, event_id: str, within_s: float = HUNG_S) -> Json:
        """The one delivery of an event, once it is delivered or failed for good."""

        async def look() -> Json | None:
            found = await self.delivery_of(event_id)
            is_over = found["status"] != "pending" and found["nextAttemptAt"] is None
            return found if is_over else None

        return await until(look, within_s)

    async def resend(self, delivery_id: str, status: int = 202) -> Json:
        """Queue a delivery again."""
        answer = await self.owner.post(f"{DELIVERIES}/{delivery_id}/resend", status=status)
        return answer.json if status >= 400 else answer.data

    async def secret(self) -> str:
        """The signing secret of the default app's test environment."""
        await self.business.step_up()
        answer = await self.owner.post(f"{SETTINGS}/test/view-secret", {}, status=200)
        return answer.data["secret"]

    async def rotate(self) -> str:
        """A new signing secret in its place."""
        await self.business.step_up()
        answer = await self.owner.post(f"{SETTINGS}/test/rotate-secret", {}, status=200)
        return answer.data["secret"]

    async def audit(self, event_type: str) -> list[Json]:
        """Entries of the audit log, the newest first."""
        path = f"{PORTAL}/events?event_type={event_type}"
        return (await self.owner.get(path, status=200)).data
