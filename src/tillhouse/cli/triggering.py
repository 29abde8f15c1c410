"""Real operations in a test book, by which `tillhouse trigger` lets the events happen.

Each operation is one of the API: its handler does it, as a request would, in a transaction of its
own, and whatever follows a request after its commit follows it.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from tillhouse.access.call import Call, IdempotencyClaim
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.access.store import sessions
from tillhouse.cli import demo
from tillhouse.cli.output import CommandError
from tillhouse.db.pool import Db
from tillhouse.http.fields import parse
from tillhouse.http.route import Route
from tillhouse.http.signature import signature_of
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BusinessId, new_id


class Desk:
    """The owner of a business, at work in its test book."""

    def __init__(self, services: Services, business_id: BusinessId | None) -> None:
        self.services = services
        self._business_id = business_id

    async def call(self, db: Db) -> Call:
        """The owner as a caller, in the test book."""
        call = await owner(self.services, db, self._business_id, now())
        call.book = Book(call.user.books.test, "test")
        return call

    async def do(self, operation: str, body: Mapping[str, Any] | None = None, *ids: UUID) -> Any:
        """Do an operation as a request does; the data of its answer."""
        async with self.services.pool.transaction() as db:
            reply = await self.within(await self.call(db), operation, body, *ids)
        if reply.after is not None:
            reply = await reply.after()
        return reply.data

    async def within(
        self, call: Call, operation: str, body: Mapping[str, Any] | None = None, *ids: UUID
    ) -> Any:
        """Do an operation in a transaction that there is; the reply."""
        route = _routes()[operation]
        signature = signature_of(route)
        args: list[Any] = [*ids]
        if signature.payload is not None:
            lists = self.services.declared.lists
            args.append(parse(dict(body or {}), signature.payload, lists))
        if route.needs_key:
            call.claim = IdempotencyClaim(call.book.id, "v1", str(new_id()), b"")
        return await signature.reply(call, *args)


@cache
def _routes() -> dict[str, Route]:
    # Its rooms load the libraries of servers.
    from tillhouse.app import ROUTES  # noqa: PLC0415

    return {f"{route.method} {route.path}": route for route in ROUTES}


async def owner(
    services: Services, db: Db, business_id: BusinessId | None, moment: datetime
) -> Call:
    """An owner of the business, who has just given the password; of the demo by default."""
    if business_id is None:
        business_id = await _demo(db)
    return await demo.owner_call(services, db, business_id, moment)


async def _demo(db: Db) -> BusinessId:
    user = await sessions.find_user_by_email(db, demo.EMAIL)
    if user is None or user["business_id"] is None:
        raise CommandError("There is no demo business: run `tillhouse demo`, or give --business.")
    return user["business_id"]
