"""The work of one business holds no payment of another, over the whole product."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import pytest

from tests.messaging.whatsapp_business import NUMBERS, WHATSAPP, said, signed, update
from tests.system.client import Client, register
from tests.system.conftest import Start
from tests.system.serving import report
from tests.webhooks.shop import until as looking
from tillhouse.access.vault import new_master_key
from tillhouse.db.embedded import Embedded

HOOKS, MESSAGES = 3, 4_000
LINKS = "/v1/payment-links"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Embedded]:
    """A PostgreSQL of this test's own."""
    server = await asyncio.to_thread(Embedded.start, tmp_path / "data")
    yield server
    await asyncio.to_thread(server.release)


async def test_a_payment_is_told_beside_a_flood_of_hooks(
    database: Embedded, start: Start, session: aiohttp.ClientSession
) -> None:
    """It waits for a turn of the flood, and not for its end: most messages still wait."""
    settings = {"DATABASE_URL": database.url, "MASTER_KEY": new_master_key()}
    serving = await start(**settings)
    anybody = Client(session, serving.address)
    flooded, shop = await asyncio.gather(register(anybody), register(anybody))
    live = await flooded.client("messaging:read", "messaging:write", environment="live")
    number = (await live.post(NUMBERS, WHATSAPP, status=201)).data
    seller = await shop.client("payment_links:write", "payment_links:read", "orders:write")
    link = await _link(seller)
    page = link["url"].removeprefix(serving.address)
    await anybody.get(page, status=200)
    hooks = [update(messages=[said("Hi") for _ in range(MESSAGES)]) for _ in range(HOOKS)]
    for body in hooks:
        headers = {"x-hub-signature-256": signed(body)}
        await anybody.post(number["hookPath"], raw=body, headers=headers, status=200)
    form = {"content-type": "application/x-www-form-urlencoded"}
    await anybody.post(f"{page}/simulate", raw=b"case=exact", headers=form, status=200)

    async def is_paid() -> bool:
        return (await seller.get(f"{LINKS}/{link['id']}", status=200)).data["status"] == "PAID"

    await looking(is_paid)
    sql = await asyncpg.connect(database.url)
    kept = await sql.fetchval("SELECT count(*) FROM messages")
    await sql.close()
    report(f"paid beside {kept} of {HOOKS * MESSAGES} messages")
    assert kept < HOOKS * MESSAGES / 2


async def _link(seller: Any) -> dict[str, Any]:
    """A link to the price of an order."""
    fee = {"product_name": "Delivery", "quantity": 1, "line_type": "fee", "custom_price": 500}
    order = (await seller.post("/v1/orders", {"items": [fee]}, status=201)).data
    body = {"target_type": "sale", "target_id": order["id"]}
    return (await seller.post(LINKS, body, status=201)).data
