"""A shop whose every amount is a multiple of 10,000: nothing that it tells has an exponent."""

import re
from uuid import UUID

import asyncpg

from tests.checkout.till import LINKS, Till
from tests.make import Make
from tests.orders.receipts import page_text
from tests.orders.shop import ORDERS, line

EXPONENT = re.compile(r"[0-9]E\+[0-9]")
# Ids and signatures look like one by chance.
_RANDOM = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|mark=[0-9a-zA-Z_-]+")
PRICE = 20_000
_PAYLOADS = "SELECT payload::text FROM webhook_events WHERE book_id = $1 ORDER BY id"
_READ = (
    "/v1/products", "/v1/inventory", "/v1/inventory/moves", "/v1/promotions", "/v1/customers",
    "/v1/debts", "/v1/orders", "/v1/finance/summary", "/v1/finance/transactions",
    "/v1/finance/expenses", "/v1/payment-links", "/v1/wallet", "/v1/wallet/statement",
    "/v1/events/stream",
)  # fmt: skip
_SCOPES = (
    "products:read", "promotions:read", "customers:read", "finance:read",
    "finance:expenses:write", "orders:read", "orders:write", "payment_links:read", "wallet:read",
    "events:read",
)  # fmt: skip


async def test_nothing_told_has_an_exponent(make: Make, sql: asyncpg.Connection) -> None:
    """Answers, lists, events, receipts, pages to pay on, refusals."""
    till = await Till.open(make, sql)
    shop = till.shop
    reader = await shop.business.client(*_SCOPES)
    product = await shop.product(PRICE, stock=10_000)
    await shop.promotion(type="fixed", value=10_000)
    customer = await shop.customer()
    owed = await shop.sell(line(product, 2), amount_paid=10_000, customer_id=customer["id"])
    paid = await shop.sell(line(product, 10), amount_paid=200_000)
    await shop.api.post(f"{ORDERS}/{paid['id']}/refunds", {"amount": 10_000}, status=201)
    await reader.post("/v1/finance/expenses", {"amount": 30_000}, status=201)
    link = await till.ask(owed)
    wallet_link = await till.ask_for_wallet(50_000)
    page = await till.payer.get(f"/pay/{link['reference']}", status=200)
    told = {"page": page.body.decode(), "receipt": await page_text(shop, paid)}
    await till.pay(link)
    await till.pay(wallet_link)
    refused = await shop.api.post(f"{ORDERS}/{paid['id']}/refunds", {"amount": 900_000})
    told["refusal"] = refused.body.decode()
    paths = [*_READ, f"{ORDERS}/{owed['id']}", f"{ORDERS}/{paid['id']}", f"{LINKS}/{link['id']}"]
    for path in [*paths, f"{ORDERS}/{paid['id']}/refunds", f"{ORDERS}/{owed['id']}/payments"]:
        told[path] = (await reader.get(path, status=200)).body.decode()
    payloads = await sql.fetch(_PAYLOADS, UUID(str(shop.book)))
    told |= {f"event {number}": row["payload"] for number, row in enumerate(payloads)}
    assert "20000" in told["/v1/products"]
    found = {place: EXPONENT.findall(_RANDOM.sub("", text)) for place, text in told.items()}
    assert {place: seen for place, seen in found.items() if seen} == {}
