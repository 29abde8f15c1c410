"""Webhooks as their user meets them: a server, a receiver, and everything over HTTP.

`pytest -s` prints the transcript: a line per request, answer, delivery and verdict.
"""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import stripe
from aiohttp import web

from tests.api import Api
from tests.make import PASSWORD, Business
from tests.system.client import Client, register
from tests.system.serving import Serving
from tests.webhooks.receiver import Received, Receiver
from tests.webhooks.shop import DELIVERIES, ENDPOINTS, PORTAL, SETTINGS, until
from tests.webhooks.tls import Authority

CUSTOMERS = "/v1/customers"
EVENTS = 3
ATTEMPTS = 5
FAILURES = EVENTS * ATTEMPTS
_SHOWN = (
    "id", "eventId", "eventType", "status", "attempts", "responseStatus", "errorMessage",
    "failureCount", "consecutiveFailures", "title", "count", "perSecond", "createdAt",
)  # fmt: skip


def tell(mark: str, line: str) -> None:
    """A line of the transcript."""
    sys.stdout.write(f"{mark:9} {line}\n")


class Merchant:
    """A user at the API, whose every request and answer is told."""

    def __init__(self, client: Api | Client) -> None:
        self._client = client

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        """The data of the answer."""
        told = json.dumps(body).replace(PASSWORD, "…") if body else ""
        tell("request", f"{method} {path} {told}")
        answer = await self._client.request(method, path, body, headers=headers)
        assert answer.status in (200, 201, 202), answer
        rows = answer.data if isinstance(answer.data, list) else [answer.data]
        tell("answer", f"{answer.status} {answer.json['message']}: {_brief(rows)}")
        return answer.data

    async def until(self, path: str, wanted: dict[str, Any]) -> Any:
        """Look until the record is as wanted; only the last look is told."""

        async def look() -> bool | None:
            found = (await self._client.get(path, status=200)).data
            return True if all(found[name] == value for name, value in wanted.items()) else None

        await until(look)
        return await self.ask("GET", path)


def _brief(rows: list[dict[str, Any]]) -> str:
    shown = [{name: row[name] for name in _SHOWN if row.get(name) is not None} for row in rows]
    return ", ".join(json.dumps(row) for row in shown) or "none"


class Shop:
    """The user's own receiver: answers what it is told to, and tells of each delivery."""

    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver
        self.received = receiver.received
        receiver.answer = self._answer

    async def _answer(self, request: web.Request) -> web.Response:
        kind, event_id = (request.headers[f"Service-Webhook-{name}"] for name in ("Event", "Id"))
        status = self.receiver.status
        tell("delivery", f"{len(self.received)}: {kind} {event_id}, answered {status}")
        return web.Response(status=status)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """A receiver that is healthy at first."""
    receiver = await Receiver().start(Authority(tmp_path).server())
    yield Shop(receiver)
    await receiver.stop()


@pytest.fixture
async def merchant(
    tmp_path: Path, shop: Shop, session: aiohttp.ClientSession
) -> AsyncIterator[Business]:
    """The owner of a business on a server that sends, and whose retries come soon."""
    settings = {"ALLOW_TARGETS": "127.0.0.1", "CA_FILE": str(tmp_path / "ca.pem")}
    settings |= {"RETRY_BASE_S": "0.02", "RETRY_FACTOR": "1"}
    serving = Serving.start(
        DATA=str(tmp_path / "data"),
        LOG_LEVEL="warning",
        **{f"WEBHOOK_{name}": value for name, value in settings.items()},
    )
    try:
        await serving.wait()
        yield await register(Client(session, serving.address))
        assert await serving.stop() == 0, serving.log
    finally:
        serving.kill()


def verify(got: Received, secret: str) -> dict[str, Any]:
    """The event, as `stripe` hands it out after checking; the same with a byte more is refused."""
    header = got.headers["Service-Signature"]
    event = stripe.Webhook.construct_event(got.body, header, secret)  # type: ignore[no-untyped-call]
    tell("stripe", f"construct_event: {event.type} {event.id}")
    with pytest.raises(stripe.SignatureVerificationError) as refused:
        stripe.Webhook.construct_event(got.body + b" ", header, secret)  # type: ignore[no-untyped-call]
    tell("stripe", f"the same with a space more: {refused.value}")
    return json.loads(got.body)


async def test_an_endpoint_from_its_first_delivery_to_its_recovery(
    merchant: Business, shop: Shop
) -> None:
    """Create, trigger, verify; fifteen failures disable it; enabled, it recovers what failed."""
    tell("", "")
    owner = Merchant(merchant.owner)
    new = {"name": "Shop", "url": shop.receiver.url, "environment": "test"}
    endpoint = await owner.ask("POST", ENDPOINTS, {**new, "events": ["contact.created"]})
    place = f"{ENDPOINTS}/{endpoint['id']}"
    await owner.ask("POST", "/api/auth/verify-password", {"password": PASSWORD})
    secret = (await owner.ask("POST", f"{SETTINGS}/test/view-secret", {}))["secret"]

    queued = await owner.ask("POST", f"{place}/test")
    [first] = await shop.receiver.until(1)
    event = verify(first, secret)
    assert (event["id"], event["type"]) == (queued["eventId"], "webhook.test")
    await owner.until(f"{DELIVERIES}/{queued['id']}", {"status": "delivered", "attempts": 1})

    shop.receiver.status = 500
    failed = await _fail(owner, shop, place)
    [noted] = await owner.ask("GET", f"{PORTAL}/events?event_type=webhook_endpoint.disabled")
    assert noted["metadata"]["webhookEndpointId"] == endpoint["id"]
    assert noted["metadata"]["consecutiveFailures"] == FAILURES
    assert noted["actorName"] == "webhook sender"

    shop.receiver.status = 204
    enabled = await owner.ask("POST", f"{place}/enable")
    assert (enabled["status"], enabled["failureCount"]) == ("active", 0)
    since = {"since": endpoint["createdAt"]}
    preview = await owner.ask("POST", f"{place}/recover", {**since, "preview": True})
    recovered = await owner.ask("POST", f"{place}/recover", since)
    assert preview["count"] == recovered["count"] == EVENTS
    await shop.receiver.until(1 + FAILURES + EVENTS)
    again = shop.received[1 + FAILURES :]
    # Each is an event that had failed, under the same id.
    assert sorted(verify(got, secret)["id"] for got in again) == sorted(failed)
    for delivery in await owner.ask("GET", f"{DELIVERIES}?endpoint_id={endpoint['id']}"):
        await owner.until(f"{DELIVERIES}/{delivery['id']}", {"status": "delivered"})
    assert (await owner.ask("GET", place))["failureCount"] == 0


async def _fail(owner: Merchant, shop: Shop, place: str) -> list[str]:
    """Let events happen that nobody takes, until the endpoint is disabled; the events' ids."""
    for number in range(EVENTS):
        body = {"name": f"Customer {number}", "phone_number": f"+23480300000{number:02}"}
        await owner.ask("POST", CUSTOMERS, body, **{"service-environment": "test"})
    disabled = await owner.until(place, {"status": "disabled"})
    assert (disabled["failureCount"], disabled["lastDeliveryStatus"]) == (FAILURES, "failed")
    ids = [got.event_id for got in shop.received[1:]]
    assert len(ids) == FAILURES
    assert [ids.count(event_id) for event_id in dict.fromkeys(ids)] == [ATTEMPTS] * EVENTS
    for delivery in await owner.ask("GET", f"{DELIVERIES}?status=failed"):
        assert (delivery["attempts"], delivery["errorMessage"]) == (ATTEMPTS, "http_500")
    return list(dict.fromkeys(ids))
