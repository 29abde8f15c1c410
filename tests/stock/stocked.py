"""A business with products that keep stock, and what its tests ask of them."""

import json
from typing import Any
from uuid import UUID

import asyncpg

from tests.api import Api, Response
from tests.make import Business

Json = dict[str, Any]

ADJUSTMENTS = "/v1/inventory/adjustments"
COUNTS = "/v1/inventory/counts"
TRANSFERS = "/v1/inventory/transfers"


class Stock:
    """The test book of a business, seen by its owner."""

    def __init__(self, business: Business, environment: str = "test") -> None:
        self.business = business
        self.environment = environment
        token = business.tokens["accessToken"]
        self.api: Api = business.anybody.as_bearer(token, **{"service-environment": environment})

    async def product(self, **fields: Any) -> Json:
        """A product that keeps stock; its record."""
        body = {"name": "Rice", "base_price": 1500, "tracks_stock": True, **fields}
        return (await self.api.post("/v1/products", body, status=201)).data

    async def variant(self, on_hand: float = 0, **fields: Any) -> str:
        """The one variant of a new product, with so much of it on hand."""
        variant_id = (await self.product(**fields))["variants"][0]["id"]
        if on_hand:
            await self.adjust(variant_id, on_hand, kind="opening")
        return variant_id

    async def store(self, name: str = "Main shop") -> str:
        """A store's id."""
        return (await self.api.post("/v1/stores", {"name": name}, status=201)).data["id"]

    async def adjust(
        self, variant_id: str, quantity: float, *, status: int = 201, **fields: Any
    ) -> Response:
        """An adjustment."""
        body = {"variant_id": variant_id, "kind": "adjustment", "quantity": quantity, **fields}
        return await self.api.post(ADJUSTMENTS, body, status=status)

    async def levels(self, query: str = "") -> list[Json]:
        """The list of levels."""
        return (await self.api.get(f"/v1/inventory?{query}", status=200)).data

    async def moves(self, query: str = "") -> list[Json]:
        """The list of moves."""
        return (await self.api.get(f"/v1/inventory/moves?{query}", status=200)).data

    async def on_hand(self, variant_id: str) -> dict[str | None, float]:
        """How much there is of a variant, by store."""
        found = await self.levels(f"variant_id={variant_id}")
        return {level["storeId"]: level["onHand"] for level in found}

    async def book_id(self, sql: asyncpg.Connection) -> UUID:
        """The book's id."""
        book_id = await sql.fetchval(
            "SELECT id FROM books WHERE business_id = $1::text::uuid AND environment = $2",
            self.business.id,
            self.environment,
        )
        assert book_id
        return book_id

    async def events(self, sql: asyncpg.Connection) -> list[Json]:
        """The events of stock that the book had, in their order."""
        rows = await sql.fetch(
            "SELECT payload FROM webhook_events WHERE book_id = $1 AND type LIKE 'inventory.%' "
            "ORDER BY id",
            await self.book_id(sql),
        )
        return [json.loads(row["payload"]) for row in rows]

    async def check_sums(self, sql: asyncpg.Connection) -> None:
        """Every level is the sum of its moves."""
        rows = await sql.fetch(
            """
            SELECT l.on_hand, l.reserved, m.on_hand AS moved, m.reserved AS promised
            FROM stock_levels l CROSS JOIN LATERAL (
                SELECT coalesce(sum(m.on_hand_change), 0) AS on_hand,
                    coalesce(sum(m.reserved_change), 0) AS reserved
                FROM stock_moves m WHERE m.book_id = l.book_id AND m.variant_id = l.variant_id
                    AND m.store_id IS NOT DISTINCT FROM l.store_id) m
            WHERE l.book_id = $1
            """,
            await self.book_id(sql),
        )
        assert rows
        for row in rows:
            assert (row["on_hand"], row["reserved"]) == (row["moved"], row["promised"])
