"""The callers of the generated tests, shared by the tests of a file where that harms nobody.

Registering a business and verifying its password cost more than most of these tests. So what is
only refused, or only looked at, is done as somebody who is there already; what changes something
has a business of its own.
"""

from typing import NamedTuple

import pytest

from tests.api import Api, Response
from tests.make import Business, Make
from tests.routes.table import MAKERS, REMOVERS, every_scope, name_of, ready, scoped, scoped_key
from tests.waiting import within
from tillhouse.access.process import Services
from tillhouse.app import PRODUCT, App, chores_of
from tillhouse.http.route import Open, Route, Scope

# Debts and orders share a book here, so they are in one currency: the one in which `Shop` sells.
CURRENCY = "NGN"


class Visitor:
    """A developer who has just given the password, and a key with every scope."""

    def __init__(self, business: Business, client: Api) -> None:
        self.business = business
        self.client = client

    def api(self, route: Route) -> Api:
        """A client that the route knows."""
        if isinstance(route.guard, Open):
            return self.business.anybody
        return self.client if isinstance(route.guard, Scope) else self.business.owner


@pytest.fixture(scope="module")
async def visitor(app: App) -> Visitor:
    """For requests that are refused before anything happens: none of them changes anything."""
    business = await Make(app, app.services).business(currency=CURRENCY)
    return Visitor(business, await every_scope(business, CURRENCY))


@pytest.fixture(scope="module")
async def staffed(app: App) -> Business:
    """For tests that set the owner's role before each request."""
    return await (await Make(app, app.services).business()).step_up()


@pytest.fixture(scope="module")
async def subscribed(app: App) -> Business:
    """For tests that set the subscription before each request."""
    return await (await Make(app, app.services).business()).step_up()


class Bygone:
    """Credentials that were good a moment ago: a key of any scope, and a session."""

    def __init__(self, business: Business, session: Api) -> None:
        self.session = session
        self._business = business
        self._keys: dict[str, Api] = {}

    async def key(self, scope: str) -> Api:
        """A client with a key that had this scope, until it was revoked."""
        if scope not in self._keys:
            key = await scoped_key(self._business, scope)
            path = f"/api/developer/api-keys/{key['id']}/revoke"
            await self._business.owner.post(path, status=200)
            self._keys[scope] = self._business.anybody.as_bearer(key["secret"])
        return self._keys[scope]


@pytest.fixture(scope="module")
async def bygone(app: App) -> Bygone:
    """For tests of what is over: nothing that they send is listened to."""
    make = Make(app, app.services)
    leaver = await make.business()
    await leaver.owner.get("/api/auth/me", status=200)
    await leaver.owner.post("/api/auth/logout", status=200)
    return Bygone(await make.business(), leaver.owner)


class Narrow:
    """Keys of one scope each."""

    def __init__(self, business: Business) -> None:
        self._business = business
        self._clients: dict[str, Api] = {}

    async def client(self, scope: str) -> Api:
        """A client with a key of this scope alone."""
        if scope not in self._clients:
            self._clients[scope] = await scoped(self._business, scope)
        return self._clients[scope]


@pytest.fixture(scope="module")
async def narrow(app: App) -> Narrow:
    """For requests that a key is refused for its scope."""
    return Narrow(await Make(app, app.services).business())


class Hidden:
    """Things that the visitor may not see, by the name that a path has for them."""

    def __init__(self, visitor: Visitor, stranger: Business) -> None:
        self._business = visitor.business
        self._stranger = stranger
        self._ids: dict[str, list[str]] = {}
        self._live: dict[str, str] = {}

    async def ids(self, name: str) -> list[str]:
        """Another business's, and a deleted one where it can be deleted."""
        if name not in self._ids:
            found = [await MAKERS[name](self._stranger, "test")]
            if name in REMOVERS:
                deleted = await MAKERS[name](self._business, "test")
                await REMOVERS[name](self._business, deleted)
                found.append(deleted)
            self._ids[name] = found
        return self._ids[name]

    async def live(self, name: str) -> str:
        """One of the visitor's own business, in the environment that the key is not for."""
        if name not in self._live:
            self._live[name] = await MAKERS[name](self._business, "live")
        return self._live[name]


@pytest.fixture(scope="module")
async def hidden(app: App, visitor: Visitor) -> Hidden:
    """Made once, because nobody who asks for them may reach, let alone change them."""
    return Hidden(visitor, await Make(app, app.services).business(currency=CURRENCY))


class Exchange(NamedTuple):
    """A good request that was answered, and how many statements that took."""

    business: Business
    answer: Response
    statements: int


class Exchanges:
    """One good request to each route: several tests look at the same answer."""

    ID = "my-id:1"

    def __init__(self, app: App) -> None:
        self._make = Make(app, app.services)
        self._services: Services = app.services
        self._known: dict[str, Exchange] = {}

    async def with_route(self, route: Route) -> Exchange:
        """The exchange, on a business of the route's own."""
        if name_of(route) not in self._known:
            self._known[name_of(route)] = await self._exchange(route)
        return self._known[name_of(route)]

    async def _exchange(self, route: Route) -> Exchange:
        business = await self._make.business()
        good = await ready(route, business)
        await self._services.usage.flush()
        before = self._services.pool.statements
        answer = await good.send(route, headers={"x-request-id": self.ID}, status=route.status)
        return Exchange(business, answer, self._services.pool.statements - before)


@pytest.fixture(scope="module")
async def exchanges(app: App) -> Exchanges:
    """For tests that look at an answer and change nothing; the first chores are done by then."""
    chores = chores_of(PRODUCT, app.services)
    # Those that ran once are due again soon, and wait for an hour: nobody works here.
    done = "SELECT count(*) FROM jobs WHERE kind = ANY($1) AND generation > 0"
    async with within(), app.services.pool.reading() as db:
        while await db.fetchval(done, [chore.name for chore in chores]) < len(chores):
            pass
    return Exchanges(app)
