"""A small world to sell in, made through the product's own API."""

import json
import secrets
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg

from tests.api import Api, Response
from tests.make import Business, Make
from tillhouse.kit.clock import now

ORDERS = "/v1/orders"
SCOPES = (
    "orders:read", "orders:write", "products:read", "products:write", "inventory:write",
    "customers:read", "customers:write", "stores:read", "stores:write", "promotions:read",
    "promotions:write", "tables:read", "tables:write", "finance:read", "events:read",
    "messaging:read", "messaging:write",
)  # fmt: skip
Body = dict[str, Any]


def fee(price: float = 500, name: str = "Delivery", **fields: Any) -> Body:
    """A line that is no product."""
    line = {"product_name": name, "quantity": 1, "line_type": "fee", "custom_price": price}
    return {**line, **fields}


def line(product: Body, quantity: float = 1, **fields: Any) -> Body:
    """A line of a product of the catalog."""
    named = {"product_id": product["id"], "product_name": product["name"]}
    return {**named, "quantity": quantity, **fields}


def chosen(group: Body, place: int = 0, **fields: Any) -> Body:
    """An option of a modifier group, as a line asks for it."""
    option = group["options"][place]
    ids = {"modifier_group_id": group["id"], "modifier_option_id": option["id"]}
    return {**ids, "name": option["name"], **fields}


def variant_of(product: Body, place: int = 0) -> str:
    """The id of a variant; of a product without variants the one that stands for it."""
    return product["variants"][place]["id"]


def at_noon() -> str:
    """A time zone where it is between noon and one: what is of today stays so for the test."""
    ahead = 12 - now().hour
    return f"Etc/GMT{-ahead:+d}" if ahead else "Etc/GMT"


def exact(answer: Response) -> Any:
    """The answer's data with its numbers as they stand in the text."""
    return json.loads(answer.body, parse_float=Decimal, parse_int=Decimal)["data"]


class Shop:
    """A book of a business, with a key that may do all that selling takes."""

    def __init__(self, business: Business, api: Api, sql: asyncpg.Connection, book: UUID) -> None:
        self.business = business
        self.api = api
        self.sql = sql
        self.book = book
        self._seen: str | None = None

    @classmethod
    async def open(
        cls, make: Make, sql: asyncpg.Connection, environment: str = "test", **fields: Any
    ) -> "Shop":
        """A shop of a new business of the given type, currency, time zone."""
        business = await make.business(**fields)
        api = await business.client(*SCOPES, environment=environment)
        book = await sql.fetchval(
            "SELECT id FROM books WHERE business_id = $1 AND environment = $2",
            UUID(business.id),
            environment,
        )
        assert book is not None
        return cls(business, api, sql, book)

    async def other_book(self) -> "Shop":
        """The live book of the same business."""
        api = await self.business.client(*SCOPES, environment="live")
        book = await self.sql.fetchval(
            "SELECT id FROM books WHERE business_id = $1 AND id <> $2",
            UUID(self.business.id),
            self.book,
        )
        assert book is not None
        return Shop(self.business, api, self.sql, book)

    async def footprint(self) -> dict[str, int]:
        """How many rows of each kind the book has: what nobody stored isn't in there."""
        row = await self.sql.fetchrow(_FOOTPRINT, self.book)
        assert row is not None
        return dict(row)

    async def made(self, path: str, body: Body | None = None) -> Any:
        """The thing that a POST makes."""
        return (await self.api.post(path, body, status=201)).data

    async def product(
        self,
        price: float = 1000,
        *,
        stock: float | None = None,
        store: str | None = None,
        **fields: Any,
    ) -> Body:
        """A product; with a stock of so many, every variant has as many."""
        body = {"name": "Jollof rice", "base_price": price, **fields}
        if stock is not None and "variants" not in fields:
            body["tracks_stock"] = True
        made = await self.made("/v1/products", body)
        for variant in made["variants"] if stock else []:
            await self.adjust(variant["id"], stock or 0, store)
        return made

    async def adjust(self, variant: str, quantity: float, store: str | None = None) -> None:
        """More, or less, of a variant."""
        body = {"variant_id": variant, "store_id": store, "quantity": quantity}
        await self.made("/v1/inventory/adjustments", {**body, "kind": "adjustment"})

    async def group(self, *deltas: float, **fields: Any) -> Body:
        """A modifier group with an option for each price."""
        options = [{"name": f"Extra {n}", "price_delta": d} for n, d in enumerate(deltas)]
        return await self.made(
            "/v1/modifier-groups", {"name": "Extras", "options": options, **fields}
        )

    async def bundle(self, *parts: tuple[Body, float], price: float = 3000) -> Body:
        """A product that consists of others."""
        components = [{"product_id": part["id"], "quantity": count} for part, count in parts]
        return await self.product(price, name="Party box", components=components)

    async def customer(self, name: str = "Chidi Eze", **fields: Any) -> Body:
        """A customer."""
        return await self.made("/v1/customers", {"name": name, **fields})

    async def store(self, **fields: Any) -> Body:
        """A store."""
        return await self.made("/v1/stores", {"name": f"Shop {secrets.token_hex(4)}", **fields})

    async def session(self, label: str | None = None) -> Body:
        """An open session at a new table."""
        table = await self.made("/v1/tables", {"label": label or f"T{secrets.token_hex(4)}"})
        return await self.made("/v1/table-sessions", {"table_id": table["id"]})

    async def term(self) -> Body:
        """An academic term."""
        return await self.made("/v1/academic-terms", {"name": f"Term {secrets.token_hex(4)}"})

    async def tag(self, name: str) -> Body:
        """A tag."""
        return await self.made("/v1/tags", {"name": name})

    async def promotion(self, **fields: Any) -> Body:
        """A promotion: ten per cent off the order unless told otherwise."""
        body = {"name": "Happy hour", "type": "percent", "scope": "order", "value": 10, **fields}
        return await self.made("/v1/promotions", body)

    async def set_trade(self, **columns: Any) -> None:
        """How the business trades: what no route sets."""
        for name, value in columns.items():
            await self.sql.execute(_TRADE[name], UUID(self.business.id), value)

    async def ask(self, *lines: Body, key: str | None = None, **fields: Any) -> Response:
        """The answer to a new order, whatever it is."""
        headers = {"idempotency-key": key} if key else None
        body = {"items": list(lines) or [fee()], **fields}
        return await self.api.post(ORDERS, body, headers=headers)

    async def sell(self, *lines: Body, **fields: Any) -> Body:
        """An order; without a line of its own, a delivery for 500."""
        answer = await self.ask(*lines, **fields)
        assert answer.status == 201, answer
        return answer.data

    async def patch(self, order: Body, *, status: int = 200, **fields: Any) -> Any:
        """The answer to a change of an order."""
        return await self.patch_all(order, fields, status)

    async def patch_all(self, order: Body, fields: Body, status: int = 200) -> Any:
        """The same, where the order's status is among the fields."""
        answer = await self.api.patch(f"{ORDERS}/{order['id']}", fields, status=status)
        return answer.data if status == 200 else answer

    async def to(self, order: Body, state: str, **fields: Any) -> Body:
        """The order, after its status was set."""
        path = f"{ORDERS}/{order['id']}"
        return (await self.api.patch(path, {"status": state, **fields}, status=200)).data

    async def confirm(self, order: Body, *, status: int = 200, **fields: Any) -> Any:
        """The answer to the confirmation of an order."""
        path = f"{ORDERS}/{order['id']}/confirm"
        answer = await self.api.post(path, fields, status=status)
        return answer.data if status == 200 else answer

    async def delete(self, order: Body, *, status: int = 200) -> Response:
        """Delete an order."""
        return await self.api.delete(f"{ORDERS}/{order['id']}", status=status)

    async def show(self, order: Body) -> Body:
        """The order as it is read."""
        return (await self.api.get(f"{ORDERS}/{order['id']}", status=200)).data

    async def stock(self, variant: str, store: str | None = None) -> tuple[float, float]:
        """How much there is of a variant, and how much of it is promised."""
        path = f"/v1/inventory?variant_id={variant}"
        levels = (await self.api.get(path, status=200)).data
        here = [level for level in levels if level["storeId"] == store]
        return (here[0]["onHand"], here[0]["reserved"]) if here else (0, 0)

    async def debts(self, order: Body) -> list[tuple[str, float]]:
        """The debts for an order: how they stand, and what is left of them."""
        path = f"/v1/debts?order_id={order['id']}"
        found = (await self.api.get(path, status=200)).data
        return [(debt["status"], debt["balance"]) for debt in found]

    async def news(self) -> list[Body]:
        """The events since this was last asked, the oldest first."""
        since = f"?since={self._seen}" if self._seen else ""
        found = (await self.api.get(f"/v1/events/stream{since}", status=200)).data
        if found:
            self._seen = found[0]["id"]
        return found[::-1]

    async def told(self) -> list[str]:
        """The types of the events since the last call."""
        return [event["type"] for event in await self.news()]

    async def total(self) -> int:
        """How many orders there are."""
        return (await self.api.get(ORDERS, status=200)).json["meta"]["total"]


_TRADE = {
    "tax_inclusive": "UPDATE businesses SET tax_inclusive = $2 WHERE id = $1",
    "stock_policy": "UPDATE businesses SET stock_policy = $2 WHERE id = $1",
    "restocks_cancelled": "UPDATE businesses SET restocks_cancelled = $2 WHERE id = $1",
    "service_charge_percent": "UPDATE businesses SET service_charge_percent = $2 WHERE id = $1",
    "service_charge_modes": "UPDATE businesses SET service_charge_modes = $2 WHERE id = $1",
}
_FOOTPRINT = """
    SELECT (SELECT count(*) FROM orders WHERE book_id = $1) AS orders,
        (SELECT count(*) FROM order_items WHERE book_id = $1) AS items,
        (SELECT count(*) FROM customers WHERE book_id = $1) AS customers,
        (SELECT count(*) FROM tags WHERE book_id = $1) AS tags,
        (SELECT count(*) FROM stock_moves WHERE book_id = $1) AS moves,
        (SELECT count(*) FROM stock_levels WHERE book_id = $1) AS levels,
        (SELECT count(*) FROM ledger_transfers WHERE book_id = $1) AS transfers,
        (SELECT count(*) FROM transactions WHERE book_id = $1) AS transactions,
        (SELECT count(*) FROM debts WHERE book_id = $1) AS debts,
        (SELECT count(*) FROM kitchen_tickets WHERE book_id = $1) AS tickets,
        (SELECT count(*) FROM webhook_events WHERE book_id = $1) AS events,
        (SELECT count(*) FROM webhook_deliveries WHERE book_id = $1) AS deliveries,
        (SELECT count(*) FROM webhook_queue WHERE book_id = $1) AS queued,
        (SELECT count(*) FROM idempotency_keys WHERE book_id = $1) AS keys,
        (SELECT count(*) FROM table_sessions WHERE book_id = $1) AS sessions,
        (SELECT coalesce(sum(used), 0) FROM promotions WHERE book_id = $1) AS uses
"""
