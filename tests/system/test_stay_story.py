"""A guest's stay over HTTP: booked, paid for by a link, charged, audited, paid, and over.

`pytest -s` prints the transcript: a line per request and answer.
"""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import pytest
import stripe

from tests.make import PASSWORD
from tests.system.client import Client
from tests.system.conftest import Start
from tests.system.transcript import Till, chapter, tell
from tests.waiting import HUNG_S
from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import ENDPOINTS, SETTINGS, until
from tests.webhooks.tls import Authority

Json = dict[str, Any]
HOTEL = "/v1/hotel"
STAYS = f"{HOTEL}/reservations"
SCOPES = (
    "hotel:read", "hotel:write", "payment_links:write",
    "finance:read",
)  # fmt: skip
HEARD = [
    "hotel.reservation.created", "hotel.reservation.checked_in", "hotel.reservation.checked_out",
    "payment.received",
]  # fmt: skip
RATE, DEPOSIT = 40000, 30000
FOLIO = ("status", "amountOwed", "unspentAmount", "nightsToCome", "chargesTotal", "paymentsTotal")


@pytest.fixture
async def receiver(tmp_path: Path) -> AsyncIterator[Receiver]:
    """The hotel's own server, which hears of stays."""
    receiver = await Receiver().start(Authority(tmp_path).server())
    yield receiver
    await receiver.stop()


async def _open(anybody: Till, receiver: Receiver) -> tuple[Till, str]:
    chapter("1. A hotel opens an account, a key for its desk and an endpoint for its events")
    account = {"name": "Ada Owner", "email": "ada@example.com", "password": PASSWORD}
    place = {"business_name": "Ada's", "business_type": "hotel", "currency": "NGN"}
    place |= {"country": "NG", "time_zone": "UTC"}
    made = await anybody.ask("POST", "/api/auth/register", {**account, **place}, status=201)
    owner = anybody.as_bearer(made.data["accessToken"])
    await owner.ask("POST", "/api/auth/verify-password", {"password": PASSWORD})
    new = {"name": "Desk", "environment": "test", "scopes": [*SCOPES]}
    key = (await owner.ask("POST", "/api/developer/api-keys", new, "secret", status=201)).data
    heard = {"name": "Hotel", "url": receiver.url, "environment": "test", "events": HEARD}
    await owner.ask("POST", ENDPOINTS, heard, "status", status=201)
    secret = (await owner.ask("POST", f"{SETTINGS}/test/view-secret", {})).data["secret"]
    return anybody.as_bearer(key["secret"]), secret


async def _book(desk: Till) -> Json:
    chapter("2. A guest books two nights, with a deposit")
    kind = {"name": "Standard", "capacity": 2, "rate": RATE}
    made = (await desk.ask("POST", f"{HOTEL}/room-types", kind, "name", "rate", status=201)).data
    room = {"room_type_id": desk.named("Standard", made), "number": "101"}
    await desk.ask("POST", f"{HOTEL}/rooms", room, "number", "status", status=201)
    today = datetime.now(UTC).date()
    body = {
        "room_type_id": made["id"],
        "guest": {"name": "Chinedu Eze", "phone_number": "+2348030000001"},
        "check_in_date": today.isoformat(),
        "check_out_date": (today + timedelta(days=2)).isoformat(),
        "deposit_amount": DEPOSIT,
    }
    shown = ("status", "shortCode", "roomNumber", "totalAmount", "depositAmount")
    stay = (await desk.ask("POST", STAYS, body, *shown, status=201)).data
    desk.named("the stay", stay)
    return stay


async def _deposit(desk: Till, stay: Json) -> None:
    chapter("3. The guest pays the deposit by a link")
    asked = {"target_type": "reservation", "target_id": stay["id"]}
    shown = ("status", "amount", "description", "customerName", "url")
    link = (await desk.ask("POST", "/v1/payment-links", asked, *shown, status=201)).data
    desk.named("the link", link)
    await desk.open(link["url"])
    session = desk.client.session
    async with session.post(
        link["url"] + "/simulate", data={"case": "exact"}, allow_redirects=False
    ) as pressed:
        assert pressed.status == 303, await pressed.text()
    tell("payer", "presses “Exact”: the sandbox is paid")
    path = f"/v1/payment-links/{link['id']}"

    async def paid() -> bool | None:
        return (await desk.client.get(path, status=200)).data["status"] == "PAID" or None

    await until(paid)
    folio = (await desk.ask("GET", f"{STAYS}/{stay['id']}/folio", None, *FOLIO)).data
    assert folio["unspentAmount"] == DEPOSIT


async def _stay(desk: Till, stay: Json) -> None:
    chapter("4. The guest moves in")
    await desk.ask("POST", f"{STAYS}/{stay['id']}/check-in", {}, "status", "roomNumber")


async def _audit(desk: Till, stay: Json, sql: asyncpg.Connection) -> None:
    chapter("5. Two nights go by, and the night audit charges them")
    await sql.execute(_LATER, stay["id"])
    tell("time", "it is three days later")

    async def audited() -> bool | None:
        found = (await desk.client.get(f"{HOTEL}/audits", status=200)).data
        return sum(one["nights"] for one in found) == 2 or None

    await desk.ask("POST", f"{HOTEL}/audits", {}, "isComplete")
    await until(audited)
    await desk.ask("GET", f"{HOTEL}/audits", None, "day", "nights", "amount")
    folio = (await desk.ask("GET", f"{STAYS}/{stay['id']}/folio", None, *FOLIO)).data
    owed = 2 * RATE - DEPOSIT
    assert (folio["amountOwed"], folio["unspentAmount"]) == (owed, 0)


async def _leave(desk: Till, stay: Json) -> None:
    chapter("6. The guest pays the rest, and leaves")
    leaving, paying = f"{STAYS}/{stay['id']}/check-out", f"{STAYS}/{stay['id']}/payments"
    refused = await desk.ask("POST", leaving, {}, status=400)
    assert str(2 * RATE - DEPOSIT) in refused.json["message"]
    rest = {"amount": 2 * RATE - DEPOSIT, "method": "pos"}
    await desk.ask("POST", paying, rest, *FOLIO, status=201)
    folio = (await desk.ask("POST", leaving, {}, *FOLIO)).data
    assert (folio["status"], folio["amountOwed"]) == ("checked_out", 0)
    again = await desk.ask("POST", leaving, {}, status=400)
    assert "checked_out" in again.json["message"]


async def _hear(receiver: Receiver, secret: str, stay: Json) -> None:
    chapter("7. The hotel's own server hears of all of it, and checks each signature")
    # Money came in twice, and paid two nights, one of them in two parts.
    count = 3 + 2 + 3
    told: list[Json] = []
    for got in await receiver.until(count):
        header = got.headers["Service-Signature"]
        event = stripe.Webhook.construct_event(got.body, header, secret)  # type: ignore[no-untyped-call]
        tell("stripe", f"construct_event: {event.type} {event.id}")
        told.append(json.loads(got.body))
    kinds = [one["type"] for one in told]
    assert [kinds.count(kind) for kind in HEARD] == [1, 1, 1, count - 3]
    paid = [one["data"]["metadata"] for one in told if one["type"] == "payment.received"]
    came = [one["amount"] for one in paid if one["paymentMethod"] != "credit"]
    assert sorted(came) == [DEPOSIT, 2 * RATE - DEPOSIT]
    spent = [one["amount"] for one in paid if one["paymentMethod"] == "credit"]
    assert sum(spent) == sum(came)
    out = next(one for one in told if one["type"] == "hotel.reservation.checked_out")
    assert (out["data"]["id"], out["data"]["status"]) == (stay["id"], "checked_out")


def _command(where: tuple[str, str], *args: str) -> Json:
    """The result of a command beside the running server."""
    words = [sys.executable, "-m", "tillhouse", *args, "--json"]
    url, key = where
    own = {"TILLHOUSE_DATABASE_URL": url, "TILLHOUSE_MASTER_KEY": key}
    environment = {**os.environ, **own}
    ran = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=HUNG_S, env=environment
    )
    tell("command", f"tillhouse {' '.join(args)}: {ran.stdout.strip()}")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


async def test_a_stay_from_booking_to_check_out(
    start: Start,
    session: aiohttp.ClientSession,
    receiver: Receiver,
    fresh_database_url: str,
    master_key: str,
    tmp_path: Path,
) -> None:
    """Booked, paid for by a link, charged, audited, paid, told; the books are whole."""
    hooks = {"ALLOW_TARGETS": "127.0.0.1", "CA_FILE": str(tmp_path / "ca.pem")}
    serving = await start(
        DATABASE_URL=fresh_database_url,
        MASTER_KEY=master_key,
        LOG_LEVEL="warning",
        **{f"WEBHOOK_{name}": value for name, value in hooks.items()},
    )
    desk, secret = await _open(Till(Client(session, serving.address)), receiver)
    stay = await _book(desk)
    await _deposit(desk, stay)
    await _stay(desk, stay)
    sql = await asyncpg.connect(fresh_database_url)
    await _audit(desk, stay, sql)
    await sql.close()
    await _leave(desk, stay)
    await _hear(receiver, secret, stay)
    chapter("8. The books count the money once")
    shown = ("salesTotal", "creditsTotal", "pendingDebtTotal")
    since = (datetime.now(UTC).date() - timedelta(days=3)).isoformat()
    path = f"/v1/finance/summary?from={since}"
    figures = (await desk.ask("GET", path, None, *shown)).data
    assert [figures[name] for name in shown] == [2 * RATE, 0, 0]
    where = fresh_database_url, master_key
    assert _command(where, "verify")["broken"] == []
    assert _command(where, "reconcile")["differences"] == []
    assert await serving.stop() == 0, serving.log


# Nobody waits three days for a test: the stay began three days earlier instead.
_LATER = """
    UPDATE hotel_reservations r SET check_in_on = r.check_in_on - 3,
        check_out_on = r.check_out_on - 3,
        nights = (SELECT jsonb_agg(jsonb_build_object('price', n.night -> 'price',
                'date', (n.night ->> 'date')::date - 3) ORDER BY n.night ->> 'date')
            FROM jsonb_array_elements(r.nights) AS n (night))
    WHERE r.id = $1::text::uuid
"""
