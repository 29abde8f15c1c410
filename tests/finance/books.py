"""A shop, and its money as the routes of finance tell it."""

from typing import Any
from urllib.parse import urlencode

import asyncpg

from tests.api import Api, Response
from tests.make import Make
from tests.orders.shop import Shop, fee

SUMMARY, TRANSACTIONS = "/v1/finance/summary", "/v1/finance/transactions"
EXPENSES = "/v1/finance/expenses"
Body = dict[str, Any]
_ON_WIRE = {"since": "from", "until": "to"}


class Books:
    """A shop with a key that reads its money and records expenses."""

    def __init__(self, shop: Shop, api: Api) -> None:
        self.shop = shop
        self.api = api

    @classmethod
    async def open(cls, make: Make, sql: asyncpg.Connection, **fields: Any) -> "Books":
        """A shop of a new business."""
        shop = await Shop.open(make, sql, **fields)
        api = await shop.business.client("finance:read", "finance:expenses:write")
        return cls(shop, api)

    async def sell(self, price: float, **fields: Any) -> Body:
        """An order of one line that is paid in full unless told otherwise."""
        return await self.shop.sell(fee(price), **{"amount_paid": price, **fields})

    async def spend(self, amount: float, **fields: Any) -> Body:
        """An expense."""
        return (await self.api.post(EXPENSES, {"amount": amount, **fields}, status=201)).data

    async def summary(self, **query: Any) -> Body:
        """The summary of a time."""
        return (await self.look(SUMMARY, query)).data

    async def page(self, **query: Any) -> Response:
        """One page of the transactions."""
        return await self.look(TRANSACTIONS, query)

    async def look(self, path: str, query: Body, status: int = 200) -> Response:
        """A list or a summary with these parameters; `since` and `until` are `from` and `to`."""
        named = {_ON_WIRE.get(name, name): value for name, value in query.items()}
        return await self.api.get(f"{path}?{urlencode(named)}", status=status)

    async def all(self, **query: Any) -> list[Body]:
        """Every transaction that fits, from all pages."""
        found: list[Body] = []
        number = 1
        while True:
            page = await self.page(**query, page=number, limit=7)
            found += page.data
            assert page.json["meta"]["total"] >= len(found)
            if not page.json["meta"]["hasMore"]:
                assert page.json["meta"]["total"] == len(found)
                return found
            number += 1
