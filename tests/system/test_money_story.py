"""Money over HTTP: a debt, a link, its page, the payment, what follows from it, and the withdrawal.

`pytest -s` prints the transcript: a line per request and answer.
"""

import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
import stripe

from tests.make import PASSWORD
from tests.system.client import Client
from tests.system.conftest import Start
from tests.system.transcript import Till, chapter, tell
from tests.waiting import HUNG_S, within
from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import ENDPOINTS, SETTINGS, until
from tests.webhooks.tls import Authority

Json = dict[str, Any]
SCOPES = (
    "orders:read", "orders:write", "customers:write", "payment_links:write", "finance:read",
    "wallet:read", "payouts:read",
)  # fmt: skip
# The sandbox keeps 1.5 % of what comes in.
OWED, FEE, WITHDRAWN = 20000, 300, 15000
SHOP = "https://shop.example.com/thanks?order=7#top"


@pytest.fixture
async def receiver(tmp_path: Path) -> AsyncIterator[Receiver]:
    """The business's own server, which hears of payments."""
    receiver = await Receiver().start(Authority(tmp_path).server())
    yield receiver
    await receiver.stop()


async def _open(anybody: Till, receiver: Receiver) -> tuple[Till, Till, str]:
    """A business, a key for its till, an endpoint, and the secret of its signatures."""
    chapter("1. A business opens an account, a key for its till and an endpoint for its shop")
    account = {"name": "Ada Owner", "email": "ada@example.com", "password": PASSWORD}
    place = {"business_name": "Ada's", "currency": "NGN", "country": "NG"}
    place |= {"time_zone": "Africa/Lagos"}
    made = await anybody.ask("POST", "/api/auth/register", {**account, **place}, status=201)
    owner = anybody.as_bearer(made.data["accessToken"])
    await owner.ask("POST", "/api/auth/verify-password", {"password": PASSWORD})
    new = {"name": "Till", "environment": "test", "scopes": [*SCOPES]}
    key = (await owner.ask("POST", "/api/developer/api-keys", new, "secret", status=201)).data
    events = ["payment.received", "wallet.withdrawal.completed"]
    heard = {"name": "Shop", "url": receiver.url, "environment": "test", "events": events}
    await owner.ask("POST", ENDPOINTS, heard, "status", "events", status=201)
    secret = (await owner.ask("POST", f"{SETTINGS}/test/view-secret", {})).data["secret"]
    in_test = anybody.as_bearer(made.data["accessToken"], **{"service-environment": "test"})
    return anybody.as_bearer(key["secret"]), in_test, secret


async def _owe(till: Till) -> tuple[Json, Json]:
    """A sale on credit, and a link for its debt."""
    chapter("2. A customer owes 20,000, and is sent a link")
    line = {"product_name": "Hall", "line_type": "fee", "quantity": 1, "custom_price": OWED}
    guest = {"name": "Bola Ahmed", "phone_number": "+2348030000009"}
    customer = (await till.ask("POST", "/v1/customers", guest, "name", status=201)).data
    body = {"items": [line], "customer_id": till.named("Bola Ahmed", customer)}
    shown = ("status", "paymentStatus", "remainingAmount")
    order = (await till.ask("POST", "/v1/orders", body, *shown, status=201)).data
    till.named("the order", order)
    debts = f"/v1/debts?order_id={order['id']}"
    [debt] = (await till.ask("GET", debts, None, "customer.name", "balance")).data
    asked = {"target_type": "debt", "target_id": till.named("the debt", debt)}
    shown = ("status", "amount", "currency", "customerName", "url")
    path = "/v1/payment-links"
    link = (await till.ask("POST", path, {**asked, "redirect_url": SHOP}, *shown, status=201)).data
    till.named("the link", link)
    assert (link["status"], link["amount"]) == ("active", OWED)
    return order, link


async def _pay(till: Till, link: Json) -> None:
    """The page without scripts, its image, its live status, the payment and the way back."""
    chapter("3. The customer opens the page and pays by transfer")
    session, url = till.client.session, link["url"]
    page = (await till.open(url)).body.decode()
    [account] = re.findall(r"\b\d{10}\b", page)[:1]
    tell("page", f"asks for {OWED:,}.00 to account {account}; no script is needed")
    assert f"{OWED:,}" in page
    image = await till.open(link["qr"])
    assert b"<svg" in image.body
    version = json.loads((await till.open(f"{url}/status")).body)["version"]
    async with session.get(f"{url}/events", params={"v": version}) as live:
        tell("request", "GET the page's events, which stay open")
        async with session.post(
            f"{url}/simulate", data={"case": "exact"}, allow_redirects=False
        ) as pressed:
            assert pressed.status == 303, await pressed.text()
        tell("payer", "presses “Exact”: the sandbox is paid")
        text = b""
        async with within():
            while b"event: status" not in text:
                part = await live.content.readany()
                assert part, "the stream has ended"
                text += part
        tell("stream", "event: status")
    assert "has your payment" in (await till.open(url)).body.decode()
    async with session.get(f"{url}/return", allow_redirects=False) as back:
        assert back.status == 303
        way = urlsplit(back.headers["location"])
    tell("redirect", way.geturl())
    told = parse_qs(way.query)
    assert (way.netloc, way.path, way.fragment) == ("shop.example.com", "/thanks", "top")
    assert told["order"] == ["7"]
    assert told["payment_status"] == ["successful"]
    assert told["payment_reference"] == [link["reference"]]


async def _hear(receiver: Receiver, secret: str, link: Json, number: int) -> Json:
    """The delivery of this number, as `stripe` hands it out after checking."""
    chapter("4. The shop hears of it") if number == 1 else None
    got = (await receiver.until(number))[number - 1]
    header = got.headers["Service-Signature"]
    event = stripe.Webhook.construct_event(got.body, header, secret)  # type: ignore[no-untyped-call]
    tell("stripe", f"construct_event: {event.type} {event.id}")
    return json.loads(got.body)


async def _books(till: Till, order: Json, link: Json) -> None:
    """The order, the link, the summary and the transaction agree."""
    chapter("5. The books")
    shown = ("status", "paymentStatus", "amountPaid", "payments")
    paid = (await till.ask("GET", f"/v1/orders/{order['id']}", None, *shown)).data
    assert (paid["status"], paid["paymentStatus"]) == ("completed", "paid")
    [payment] = paid["payments"]
    assert payment["amount"] == OWED
    path = f"/v1/payment-links/{link['id']}"
    closed = (await till.ask("GET", path, None, "status", "amountReceived")).data
    assert (closed["status"], closed["amountReceived"]) == ("PAID", OWED)
    shown = ("salesTotal", "walletBalance", "pendingDebtTotal")
    figures = (await till.ask("GET", "/v1/finance/summary", None, *shown)).data
    assert [figures[name] for name in shown] == [OWED, OWED - FEE, 0]
    shown = ("type", "status", "amount", "method", "customer", "paymentLinkReference")
    path = f"/v1/finance/transactions/{payment['transactionId']}"
    booked = (await till.ask("GET", path, None, *shown)).data
    assert (booked["amount"], booked["paymentLinkId"]) == (OWED, link["id"])


async def _withdraw(owner: Till) -> Json:
    """Money to the bank, and what is left."""
    chapter("6. The owner withdraws 15,000")
    await owner.ask("POST", "/api/auth/verify-password", {"password": PASSWORD})
    account = {"bank_code": "001", "account_number": "0123456789"}
    path = "/v1/payout-accounts"
    made = (await owner.ask("POST", path, account, "status", status=201)).data
    place = f"{path}/{owner.named('the bank account', made)}"

    async def known() -> bool | None:
        found = (await owner.client.get(place, status=200)).data
        return found["status"] == "active" or None

    await until(known)
    await owner.ask("GET", place, None, "status", "accountName")
    wanted = {"amount": WITHDRAWN, "payout_account_id": made["id"]}
    path, shown = "/v1/wallet/withdrawals", ("status", "amount")
    sent = await owner.ask("POST", path, wanted, *shown, status=201, key="withdrawal-1")
    withdrawal = sent.data
    again = await owner.ask("POST", path, wanted, *shown, status=201, key="withdrawal-1")
    assert again.data["id"] == withdrawal["id"]
    return withdrawal


async def _after(owner: Till, withdrawal: Json, heard: Json) -> None:
    place = f"/v1/wallet/withdrawals/{owner.named('the withdrawal', withdrawal)}"
    ended = (await owner.ask("GET", place, None, "status", "amount", "fee")).data
    assert ended["status"] == "completed"
    assert heard["data"]["entityId"] == withdrawal["id"]
    shown = ("balance", "available", "pendingWithdrawals")
    wallet = (await owner.ask("GET", "/v1/wallet", None, *shown)).data
    assert wallet["balance"] == OWED - FEE - WITHDRAWN - ended["fee"]


def _command(data: Path, *args: str) -> Json:
    """The result of a command beside the running server."""
    words = [sys.executable, "-m", "tillhouse", *args, "--json", "--data", str(data)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False, timeout=HUNG_S)
    tell("command", f"tillhouse {' '.join(args)}: {ran.stdout.strip()}")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


async def test_money_from_a_debt_to_the_bank(
    start: Start, session: aiohttp.ClientSession, receiver: Receiver, tmp_path: Path
) -> None:
    """Owed, asked for, paid, told, booked, withdrawn; the books are whole."""
    hooks = {"ALLOW_TARGETS": "127.0.0.1", "CA_FILE": str(tmp_path / "ca.pem")}
    serving = await start(
        DATA=str(tmp_path / "data"),
        LOG_LEVEL="warning",
        **{f"WEBHOOK_{name}": value for name, value in hooks.items()},
    )
    till, owner, secret = await _open(Till(Client(session, serving.address)), receiver)
    order, link = await _owe(till)
    await _pay(till, link)
    told = await _hear(receiver, secret, link, 1)
    assert told["type"] == "payment.received"
    assert told["data"]["paymentLink"]["reference"] == link["reference"]
    assert told["data"]["customer"]["id"] == order["customer"]["id"]
    await _books(till, order, link)
    withdrawal = await _withdraw(owner)
    await _after(owner, withdrawal, await _hear(receiver, secret, link, 2))
    chapter("7. The ledger proves every figure, and the provider says the same")
    assert _command(tmp_path / "data", "verify")["broken"] == []
    reconciled = _command(tmp_path / "data", "reconcile")
    assert (reconciled["payments"], reconciled["payouts"]) == (1, 1)
    assert reconciled["differences"] == []
    assert await serving.stop() == 0, serving.log
