"""A shop that asks for money by links, and how its tests look at them."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import asyncpg

from tests.api import Api, Response
from tests.make import Make
from tests.orders.shop import Shop, fee
from tillhouse.checkout.applying import kind
from tillhouse.folios.jobs import dispute_kind
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.payins.jobs import kinds as payin_jobs

LINKS = "/v1/payment-links"
WALLET_LINKS = LINKS + "/wallet/dynamic"
Body = dict[str, Any]


class Till:
    """A shop with a key that makes payment links, and somebody without a key who pays."""

    def __init__(self, shop: Shop, api: Api) -> None:
        self.shop = shop
        self.api = api
        self.payer = shop.business.anybody

    @classmethod
    async def open(
        cls, make: Make, sql: asyncpg.Connection, environment: str = "test", **fields: Any
    ) -> "Till":
        """A shop of a new business."""
        shop = await Shop.open(make, sql, environment, **fields)
        scopes = ("payment_links:write", "finance:read", "events:read")
        api = await shop.business.client(*scopes, environment=environment)
        return cls(shop, api)

    async def sale(self, price: float = 1000, **fields: Any) -> Body:
        """An order of one line of which nothing is paid."""
        return await self.shop.sell(fee(price), **fields)

    async def ask(self, order: Body, **fields: Any) -> Body:
        """A link for an order."""
        body = {"target_type": "sale", "target_id": order["id"], **fields}
        return (await self.api.post(LINKS, body, status=201)).data

    async def ask_for_wallet(self, amount: float = 250, **fields: Any) -> Body:
        """A link of the wallet."""
        body = {"title": "Hall deposit", "amount": amount, **fields}
        return (await self.api.post(WALLET_LINKS, body, status=201)).data

    async def debt_of(self, order: Body) -> Body:
        """The debt of an order."""
        path = f"/v1/debts?order_id={order['id']}"
        return (await self.api.get(path, status=200)).data[0]

    async def pay(self, link: Body, case: str = "exact") -> None:
        """Open the page, let the sandbox be paid, and do all that follows."""
        await self.payer.get(f"/pay/{link['reference']}")
        await self.simulate(link, case)
        await self.work()

    async def simulate(self, link: Body, case: str) -> None:
        """Press a button of the page; nothing is processed yet."""
        path, form = f"/pay/{link['reference']}/simulate", f"case={case}".encode()
        await self.payer.post(path, None, raw=form, status=303)

    async def work(self, **later: float) -> None:
        """A worker does all that is due then."""
        services = self.payer.app.services
        jobs = [*payin_jobs(services), kind(services), dispute_kind(services)]
        runner = JobRunner(services.pool, jobs, services.job_results)
        await runner.run_due(now() + timedelta(seconds=2, **later))

    async def events(self, *types: str) -> list[Body]:
        """The events of these types so far, the first one first."""
        path = f"/v1/events/stream?events={','.join(types)}"
        found = (await self.api.get(path, status=200)).data
        return sorted(found, key=lambda event: event["id"])

    async def order(self, order: Body) -> Body:
        """An order as it is now."""
        return (await self.shop.api.get(f"/v1/orders/{order['id']}", status=200)).data

    async def link(self, link: Body) -> Body:
        """A link as it is now."""
        return (await self.api.get(f"{LINKS}/{link['id']}", status=200)).data

    async def look(self, expected: int = 200, **query: Any) -> Response:
        """A page of the links; `since` is `from`."""
        named = {{"since": "from", "until": "to"}.get(n, n): v for n, v in query.items()}
        return await self.api.get(f"{LINKS}?{urlencode(named)}", status=expected)

    async def ids(self, **query: Any) -> list[str]:
        """The ids of the links that fit; the total says how many they are."""
        page = await self.look(**query, limit=100)
        assert page.json["meta"]["total"] == len(page.data)
        return [one["id"] for one in page.data]
