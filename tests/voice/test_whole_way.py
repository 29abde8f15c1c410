"""The whole way of a call: placed over HTTP, talked, acted on, and told of by signed webhooks."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
import standardwebhooks

from tests.conftest import SETTINGS, fresh_database, running
from tests.hotel.house import House
from tests.make import Make
from tests.voice.desk import CALLS, Desk, phone
from tests.voice.model_server import ModelServer
from tests.voice.virtual import Network, VirtualClock
from tests.waiting import within
from tests.webhooks.receiver import Received, Receiver
from tests.webhooks.shop import Shop
from tests.webhooks.tls import Authority
from tillhouse.app import App
from tillhouse.kit.clock import now
from tillhouse.kit.network import parse_networks
from tillhouse.webhooks.sender.worker import Sender


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """The certificate authority of the receiver."""
    return Authority(tmp_path)


@pytest.fixture
async def receiver(authority: Authority) -> AsyncIterator[Receiver]:
    """Somebody else's server, which is told of everything."""
    receiver = await Receiver().start(authority.server())
    yield receiver
    await receiver.stop()


@pytest.fixture
async def told_app(
    server_url: str, master_key: str, tmp_path: Path, authority: Authority
) -> AsyncIterator[App]:
    """An application of this test's own, which sends its webhooks to this machine."""
    here = parse_networks(["127.0.0.1"])
    settings = msgspec.structs.replace(
        SETTINGS,
        data=tmp_path,
        model_allow_targets=here,
        webhook_allow_targets=here,
        webhook_ca_file=authority.ca_file,
    )
    async with (
        fresh_database(server_url, "tillhouse_told") as url,
        running(settings, url, master_key) as app,
    ):
        sender = Sender(app.services)
        sender.start()
        yield app
        await sender.stop()


async def _order(caller: Desk, number: str, **fields: Any) -> dict[str, Any]:
    api = await caller.business.client("orders:read", "orders:write")
    body = {
        "customer_id": (await caller.business.customer(phone_number=number))["id"],
        "items": [{"product_name": "Cake", "custom_price": 9000, "quantity": 2}],
        **fields,
    }
    return (await api.post("/v1/orders", body, status=201)).data


async def _make(app: App, placed: dict[str, Any]) -> None:
    """Make a call in the last minutes, so that its events are due by now."""
    began = now() - timedelta(minutes=3)
    async with app.services.pool.transaction() as db:
        await db.execute(
            "UPDATE voice_calls SET due_at = $2 WHERE id = $1::text::uuid", placed["id"], began
        )
    await Network(app.services, VirtualClock(began)).run()


async def _told(receiver: Receiver, wanted: set[tuple[str, str]]) -> dict[str, Received]:
    """The first webhook of each type that is wanted, about this call or order."""
    found: dict[str, Received] = {}
    async with within():
        while wanted - {(name, _about(one)) for name, one in found.items()}:
            await asyncio.sleep(0)
            for one in await receiver.until(1):
                name = one.headers["Service-Webhook-Event"]
                if (name, _about(one)) in wanted:
                    found[name] = one
    return found


def _about(one: Received) -> str:
    data = json.loads(one.body)["data"]
    about = data.get("callId") or data.get("entityId") or data.get("reservationId")
    return about or data.get("id") or ""


@pytest.mark.parametrize("runtime", ["scripted", "chat"])
async def test_a_call_confirms_an_order_and_others_hear_of_it(
    told_app: App, receiver: Receiver, models: ModelServer, runtime: str
) -> None:
    """The customer says yes; each event arrives, signed, and the recording can be fetched."""
    business = await Make(told_app, told_app.services).business(currency="NGN", country="NG")
    caller, shop = await Desk.open(business), Shop(told_app, business)
    await shop.endpoint(receiver.url, events=["*"])
    number = phone()
    order = await _order(caller, number, scheduled_for="2120-01-31T09:00:00Z")
    model = {"model_url": models.url, "model_name": "test"} if runtime == "chat" else {}
    agent = await caller.agent(runtime=runtime, **model)
    placed = await caller.place(customer_phone=number, ai_agent_id=agent["id"])
    await _make(told_app, placed)
    call = await caller.call(placed["id"])
    assert (call["status"], call["outcome"]["code"]) == ("completed", "order_confirmed")
    names = ("voice.call.started", "voice.call.completed", "voice.recording.ready")
    found = await _told(
        receiver, {*((name, placed["id"]) for name in names), ("order.updated", order["id"])}
    )
    secret = await shop.secret()
    for one in found.values():
        headers = {name.lower(): value for name, value in one.headers.items()}
        standardwebhooks.Webhook(secret).verify(one.body, headers)
    completed = json.loads(found["voice.call.completed"].body)["data"]
    assert completed["durationSeconds"] == call["durationSeconds"] > 0
    parts = urlsplit(completed["recordingUrl"])
    recording = await business.anybody.get(f"{parts.path}?{parts.query}", status=200)
    assert recording.body[:4] == b"RIFF"
    turns = (await caller.api.get(f"{CALLS}/{placed['id']}/transcript", status=200)).data["turns"]
    assert ["customer", "yes"] in [[turn["role"], turn["text"]] for turn in turns]


@pytest.mark.parametrize("runtime", ["scripted", "chat"])
@pytest.mark.parametrize(
    ("ending", "outcome"),
    [("0100", "reservation_confirmed"), ("0110", "reservation_cancelled")],
)
async def test_a_call_confirms_or_cancels_a_stay_and_others_hear_of_it(
    told_app: App, receiver: Receiver, models: ModelServer, runtime: str, ending: str, outcome: str
) -> None:
    """The guest says yes, and what they need, or no: the stay says so, and each event arrives."""
    business = await Make(told_app, told_app.services).business(currency="NGN", country="NG")
    caller, shop = await Desk.open(business), Shop(told_app, business)
    house, number = await House.open(business), phone(ending)
    guest = {"name": "Bola Ahmed", "phone_number": number}
    stay = await house.book(1, 3, guest_id=None, guest=guest)
    await shop.endpoint(receiver.url, events=["*"])
    model = {"model_url": models.url, "model_name": "test"} if runtime == "chat" else {}
    agent = await caller.agent(runtime=runtime, script="reservation_confirmation", **model)
    placed = await caller.place(customer_phone=number, ai_agent_id=agent["id"])
    await _make(told_app, placed)
    call = await caller.call(placed["id"])
    assert (call["status"], call["outcome"]["code"]) == ("completed", outcome)
    names = ("voice.call.started", "voice.call.completed", "voice.recording.ready")
    wanted = {(name, placed["id"]) for name in names}
    if outcome == "reservation_cancelled":
        wanted.add(("hotel.reservation.cancelled", stay["id"]))
    elif runtime == "scripted":
        wanted.add(("hotel.service_request.created", stay["id"]))
    found = await _told(receiver, wanted)
    secret = await shop.secret()
    for one in found.values():
        headers = {name.lower(): value for name, value in one.headers.items()}
        standardwebhooks.Webhook(secret).verify(one.body, headers)
    after = await house.read(stay)
    is_confirmed = outcome == "reservation_confirmed"
    assert after["status"] == ("booked" if is_confirmed else "cancelled")
    assert (after["confirmedAt"] is not None) == is_confirmed
    if not is_confirmed:
        assert json.loads(found["hotel.reservation.cancelled"].body)["data"] == after


async def test_a_link_from_a_call_reaches_the_customer_and_is_paid(told_app: App) -> None:
    """The message goes out by the sandbox number; its link leads to a page that takes the money."""
    business = await Make(told_app, told_app.services).business(currency="NGN", country="NG")
    caller = await Desk.open(business)
    number = phone("0109")
    order = await _order(caller, number)
    agent = await caller.agent(script="payment_reminder")
    placed = await caller.place(customer_phone=number, ai_agent_id=agent["id"])
    await _make(told_app, placed)
    assert (await caller.call(placed["id"]))["outcome"]["code"] == "link_sent"
    api = await business.client("payment_links:read", "messaging:read")
    [link] = (await api.get("/v1/payment-links", status=200)).data
    [talk] = (await api.get("/v1/conversations", status=200)).data
    path = f"/v1/conversations/{talk['id']}/messages"
    [message] = (await api.get(path, status=200)).data
    assert (talk["customerPhone"], message["direction"]) == (number, "outbound")
    assert message["text"] == f"Pay 18000.00 NGN for order {order['shortCode']}: {link['url']}"
    assert message["deliveryStatus"] in ("sent", "delivered", "read")
    page = await business.anybody.get(urlsplit(link["url"]).path, status=200)
    assert "18,000" in page.body.decode()
