"""Makes the world of a test through the product's own API, so that fixtures cannot lie."""

import secrets
from string import ascii_lowercase
from typing import Any
from uuid import UUID

from tests.api import Api
from tillhouse.access.process import Services
from tillhouse.accounts.store import upsert_member
from tillhouse.app import App
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BusinessId, UserId

PASSWORD = "correct horse battery"


class Business:
    """A business with its owner logged in."""

    def __init__(self, api: Api, tokens: dict[str, Any], email: str) -> None:
        self.id: str = tokens["businessId"]
        self.user_id: str = tokens["userId"]
        self.email = email
        self.tokens = tokens
        self.anybody = api
        self.owner = api.as_bearer(tokens["accessToken"])
        self._is_stepped_up = False

    async def step_up(self) -> "Business":
        """Verify the password in the owner's session."""
        path = "/api/auth/verify-password"
        await self.owner.post(path, {"password": PASSWORD}, status=200)
        self._is_stepped_up = True
        return self

    async def key(self, *scopes: str, environment: str = "test", **fields: Any) -> dict[str, Any]:
        """An API key record with its secret."""
        if not self._is_stepped_up:
            await self.step_up()
        body = {
            "name": "test key",
            "environment": environment,
            "scopes": list(scopes) or ["voice:read"],
            **fields,
        }
        return (await self.owner.post("/api/developer/api-keys", body, status=201)).data

    async def endpoint(self, environment: str = "test", **fields: Any) -> dict[str, Any]:
        """A webhook endpoint record; nothing is sent unless an application works."""
        body = {
            "name": "Shop hook",
            "url": "https://shop.example.com/hook",
            "environment": environment,
            "events": ["order.created"],
            **fields,
        }
        path = "/api/developer/webhook-endpoints"
        return (await self.owner.post(path, body, status=201)).data

    async def made(self, path: str, body: dict[str, Any], environment: str = "test") -> Any:
        """Things that the owner makes on the public routes, in one of both books."""
        headers = {"service-environment": environment}
        return (await self.owner.post(path, body, headers=headers, status=201)).data

    async def customer(self, environment: str = "test", **fields: Any) -> dict[str, Any]:
        """A customer record."""
        return await self.made("/v1/customers", {"name": "Chinedu Eze", **fields}, environment)

    async def store(self, environment: str = "test", **fields: Any) -> dict[str, Any]:
        """A store record."""
        body = {"name": f"Shop {secrets.token_hex(4)}", **fields}
        return await self.made("/v1/stores", body, environment)

    async def table(self, environment: str = "test", **fields: Any) -> dict[str, Any]:
        """A table record."""
        body = {"label": f"T{secrets.token_hex(4)}", **fields}
        return await self.made("/v1/tables", body, environment)

    async def client(self, *scopes: str, environment: str = "test", **fields: Any) -> Api:
        """A client with a new API key."""
        key = await self.key(*scopes, environment=environment, **fields)
        return self.anybody.as_bearer(key["secret"])


class Make:
    """Makes businesses; each test has its own, so every test also tests isolation."""

    def __init__(self, app: App, services: Services) -> None:
        self.app = app
        self.services = services
        self.anybody = Api(app)

    def elsewhere(self) -> Api:
        """A client in a network that nobody has been in."""
        words = (secrets.token_hex(2) for _ in range(3))
        return Api(self.app, peer=f"2001:{':'.join(words)}::1")

    async def business(self, **fields: Any) -> Business:
        """A registered business."""
        # Letters alone: rules about passwords look at the letters of an address.
        email = "".join(secrets.choice(ascii_lowercase) for _ in range(16)) + "@example.com"
        body = {
            "name": "Ada Owner",
            "email": email,
            "password": PASSWORD,
            "business_name": "Ada's",
            **fields,
        }
        # Every test's login comes from a network of its own, as far as lock-outs go.
        answer = await self.anybody.post("/api/auth/register", body, status=201)
        return Business(self.anybody, answer.data, email)

    async def member(self, business: Business, role: str) -> Business:
        """One more person of a business, in a session there, with the password given again."""
        other = await self.business()
        async with self.services.pool.transaction() as db:
            ids = BusinessId(UUID(business.id)), UserId(UUID(other.user_id))
            await upsert_member(db, *ids, role, now())
        there = {"business_id": business.id}
        token = (await other.owner.post("/api/auth/switch", there, status=200)).data
        tokens = {**other.tokens, **token}
        return await Business(self.anybody, tokens, other.email).step_up()
