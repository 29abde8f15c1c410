"""Links of a live book: somebody must collect for it, and nobody pretends to pay."""

import asyncpg
import pytest

from tests.checkout.conftest import Open
from tests.checkout.till import LINKS, WALLET_LINKS
from tests.payins.vendor_books import connected
from tests.providers.payments.vendors import VENDORS
from tillhouse.access.process import Services

_DOWN = "UPDATE payment_providers SET down_until = now() + interval '1 day' WHERE book_id = $1"


async def test_a_live_link_needs_a_provider(open_till: Open) -> None:
    """The refusal names the way to one, and no link is made."""
    till = await open_till("live")
    order = await till.sale()
    for path, body in (
        (LINKS, {"target_type": "sale", "target_id": order["id"]}),
        (WALLET_LINKS, {"title": "Hall", "amount": 10}),
    ):
        refused = await till.api.post(path, body, status=400)
        assert refused.error == "request_failed"
        assert "PUT /v1/payment-providers" in refused.json["message"]
    assert await till.ids() == []


async def test_nobody_pretends_to_pay_in_a_live_book(
    open_till: Open, services: Services, sql: asyncpg.Connection
) -> None:
    """Its page offers no simulation, and the address of that one is nowhere."""
    till = await open_till("live")
    vendor = VENDORS[0]
    await connected(services, sql, till.shop.business, (vendor, vendor.simulator()))
    await sql.execute(_DOWN, till.shop.book)
    link = await till.ask_for_wallet(customer={"email": "bola@example.com"})
    path = f"/pay/{link['reference']}"
    text = (await till.payer.get(path, status=200)).body.decode()
    assert "The bank gave us no account number" in text
    for words in ("Simulate", "Test mode", "Sandbox"):
        assert words not in text
    await till.payer.post(path + "/simulate", None, raw=b"case=exact", status=404)
    await till.work()
    assert (await till.link(link))["paymentsCount"] == 0


@pytest.mark.parametrize(
    ("form", "status"),
    [(b"", 422), (b"case=free", 422), (b"case", 422), (b"\xff=\x00", 422), (b"case=" * 500, 413)],
)
async def test_a_case_that_is_none_pays_nothing(open_till: Open, form: bytes, status: int) -> None:
    """Another word, none, no text, or far too much of it."""
    till = await open_till()
    link = await till.ask_for_wallet()
    path = f"/pay/{link['reference']}"
    await till.payer.get(path, status=200)
    await till.payer.post(path + "/simulate", None, raw=form, status=status)
    await till.work()
    assert (await till.link(link))["paymentsCount"] == 0
