"""A business that sells: short ways to its products, and to the events that they cause."""

import json
from typing import Any
from uuid import UUID

import asyncpg

from tests.api import Api
from tests.make import Business

Json = dict[str, Any]

PRODUCTS = "/v1/products"
CATEGORIES = "/v1/categories"
GROUPS = "/v1/modifier-groups"


class Catalog:
    """The test book of a business, through a key that may read and write products."""

    def __init__(self, business: Business, api: Api, sql: asyncpg.Connection) -> None:
        self.business = business
        self.api = api
        self.sql = sql

    @classmethod
    async def open(cls, business: Business, sql: asyncpg.Connection) -> "Catalog":
        """With a key of its own."""
        return cls(business, await business.client("products:read", "products:write"), sql)

    async def product(self, name: str = "Jollof rice", **fields: Any) -> Json:
        """A new product."""
        body = {"name": name, "base_price": 1500, **fields}
        return (await self.api.post(PRODUCTS, body, status=201)).data

    async def refused(self, **fields: Any) -> set[str]:
        """The fields that are named when this is no product."""
        body = {"name": "Jollof rice", "base_price": 1500, **fields}
        return (await self.api.post(PRODUCTS, body, status=422)).wrong_fields

    async def read(self, product_id: str) -> Json:
        """A product as it stands."""
        return (await self.api.get(f"{PRODUCTS}/{product_id}", status=200)).data

    async def change(self, product_id: str, **fields: Any) -> Json:
        """A product changed."""
        return (await self.api.patch(f"{PRODUCTS}/{product_id}", fields, status=200)).data

    async def names(self, query: str = "") -> list[str]:
        """The names of a list."""
        answer = await self.api.get(f"{PRODUCTS}?{query}", status=200)
        return [product["name"] for product in answer.data]

    async def category(self, name: str = "Mains", **fields: Any) -> Json:
        """A new category."""
        return (await self.api.post(CATEGORIES, {"name": name, **fields}, status=201)).data

    async def group(self, *options: Json, **fields: Any) -> Json:
        """A new modifier group."""
        body = {"name": "Extras", "options": list(options) or [{"name": "Egg"}], **fields}
        return (await self.api.post(GROUPS, body, status=201)).data

    async def store(self, name: str) -> str:
        """A store's id, in the test book."""
        store_id = await self.sql.fetchval(
            """
            INSERT INTO stores (book_id, id, name, created_at, updated_at)
            SELECT id, gen_random_uuid(), $2, now(), now() FROM books
            WHERE business_id = $1 AND environment = 'test' RETURNING id
            """,
            UUID(self.business.id),
            name,
        )
        return str(store_id)

    async def events(self) -> list[tuple[str, Json]]:
        """Every event of a product so far, in its order."""
        rows = await self.sql.fetch(
            """
            SELECT e.payload FROM webhook_events e JOIN books b ON b.id = e.book_id
            WHERE b.business_id = $1 AND e.type LIKE 'product.%' ORDER BY e.id
            """,
            UUID(self.business.id),
        )
        told = [json.loads(row["payload"]) for row in rows]
        return [(event["type"], event["data"]) for event in told]
