"""The product is started, sells for an evening, is killed, and goes on from its backup."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.api import Response
from tests.cli.command import Command
from tests.make import Business
from tests.system.client import Client, register
from tests.system.serving import Serving

ORDERS = "/v1/orders"
STOCK = 100
GUESTS = 12
SCOPES = (
    "orders:read", "orders:write", "products:read", "products:write", "inventory:write",
    "finance:read", "payment_links:write",
)  # fmt: skip
Json = dict[str, Any]


class Shop:
    """A shop at whichever process serves its installation."""

    def __init__(self, api: Client, product: Json) -> None:
        self.api = api
        self.product = product

    @classmethod
    async def open(cls, business: Business) -> "Shop":
        """With a key and some stock."""
        api: Any = await business.client(*SCOPES)
        product = (
            await api.post(
                "/v1/products",
                {"name": "Rice", "base_price": 1000, "tracks_stock": True},
                status=201,
            )
        ).data
        stock = {"variant_id": product["variants"][0]["id"], "kind": "opening", "quantity": STOCK}
        await api.post("/v1/inventory/adjustments", stock, status=201)
        return cls(api, product)

    async def sell(self, key: str, **fields: Any) -> Response:
        """One sale of two; the same key is the same sale."""
        line = {"product_id": self.product["id"], "product_name": "Rice", "quantity": 2}
        body = {"items": [line], "amount_paid": 2000, "payment_method": "cash", **fields}
        return await self.api.post(ORDERS, body, headers={"idempotency-key": key})

    async def seen(self) -> Json:
        """The figures that the shop is told of itself: its orders, stock and money."""
        paths = (f"{ORDERS}?limit=100", "/v1/inventory", "/v1/finance/summary")
        answers = [await self.api.get(path, status=200) for path in paths]
        orders, stock, money = (answer.data for answer in answers)
        return {
            "orders": {order["id"]: (order["status"], order["amountPaid"]) for order in orders},
            "stock": stock[0]["onHand"],
            "money": money,
        }


@asynccontextmanager
async def serving(data: Path, *args: str) -> AsyncIterator[Serving]:
    """A server on this data folder."""
    started = await Serving.up(*args, DATA=str(data), LOG_LEVEL="warning")
    try:
        yield started
    finally:
        started.kill()


async def an_evening(shop: Shop) -> None:
    """Sales, a refund, a cancellation, and a payment link."""
    sold = [await shop.sell(f"guest-{number}") for number in range(5)]
    assert {answer.status for answer in sold} == {201}
    refund = {"amount": 500, "method": "cash"}
    await shop.api.post(f"{ORDERS}/{sold[0].data['id']}/refunds", refund, status=201)
    cancelled = f"{ORDERS}/{sold[1].data['id']}"
    await shop.api.patch(cancelled, {"status": "cancelled"}, status=200)
    link = {"title": "Deposit for the hall", "amount": 16460.5}
    await shop.api.post("/v1/payment-links/wallet/dynamic", link, status=201)


async def killed_meanwhile(shop: Shop, serving: Serving) -> None:
    """Kill the process while guests are served: once the first answers are there."""
    sales = [asyncio.create_task(shop.sell(f"late-{number}")) for number in range(GUESTS)]
    await asyncio.wait(sales, return_when=asyncio.FIRST_COMPLETED)
    serving.kill()
    for ended in await asyncio.gather(*sales, return_exceptions=True):
        assert isinstance(ended, Response | aiohttp.ClientError), ended


async def sold_once(shop: Shop) -> None:
    """Every guest asks again; each is served once."""
    again = [await shop.sell(f"late-{number}") for number in range(GUESTS)]
    assert {answer.status for answer in again} <= {200, 201}
    assert len({answer.data["id"] for answer in again}) == GUESTS
    seen = await shop.seen()
    assert len(seen["orders"]) == 5 + GUESTS
    # The stock of the cancelled sale is back.
    assert seen["stock"] == STOCK - 2 * (4 + GUESTS)


async def test_an_installation_outlives_a_kill_and_goes_on_from_its_backup() -> None:
    """No sale is lost or doubled, and the copy tells what the original told."""
    with tempfile.TemporaryDirectory(prefix="tillhouse-whole-") as name:
        folder = Path(name)
        command = Command(folder / "data", BACKUP_PASSPHRASE="five words drawn at random")
        async with aiohttp.ClientSession() as session, serving(folder / "data") as first:
            business = await register(Client(session, first.address))
            shop = await Shop.open(business)
            await an_evening(shop)
            before = await shop.seen()
            assert len(before["orders"]) == 5
            await killed_meanwhile(shop, first)
            async with serving(folder / "data") as second:
                shop = Shop(shop.api.at(second.address), shop.product)
                await sold_once(shop)
                wanted = await shop.seen()
                await asyncio.to_thread(command.run, "backup", str(folder / "backup"))
                assert await second.stop() == 0
            copy = Command(folder / "copy", BACKUP_PASSPHRASE="five words drawn at random")
            restored = await asyncio.to_thread(copy.json, "restore", str(folder / "backup"))
            assert restored["broken"] == []
            async with serving(folder / "copy", "--workers", "2") as third:
                shop = Shop(shop.api.at(third.address), shop.product)
                assert await shop.seen() == wanted
                assert (await shop.sell("guest-0")).data["id"] in wanted["orders"]
                assert (await shop.sell("new")).status == 201
                assert await third.stop() == 0
            await asyncio.to_thread(copy.json, "verify")
