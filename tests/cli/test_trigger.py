"""`tillhouse trigger` queues test events and samples, and says which it can't let happen."""

from typing import Any
from uuid import uuid4

import aiohttp

from tests.cli.command import Command
from tests.system.client import Client
from tests.system.serving import Serving

ENDPOINTS = "/api/developer/webhook-endpoints"


async def login(session: aiohttp.ClientSession, address: str, demo: dict[str, Any]) -> Client:
    """The owner of the demo business."""
    anybody = Client(session, address)
    body = {"email": demo["email"], "password": demo["password"]}
    answer = await anybody.post("/api/auth/login", body, status=200)
    return anybody.as_bearer(answer.data["accessToken"])


async def test_a_test_event_is_queued_for_one_or_all(command: Command) -> None:
    """Every active endpoint of the environment gets its own, or the one that is named."""
    demo = command.json("demo")
    serving = await Serving.up("--no-work", DATA=str(command.data), LOG_LEVEL="error")
    try:
        async with aiohttp.ClientSession() as session:
            owner = await login(session, serving.address, demo)
            made = []
            for number in range(2):
                body = {
                    "name": f"Hook {number}",
                    "url": f"https://198.41.0.4/{number}",
                    "environment": "test",
                    "events": ["order.created"],
                }
                made.append((await owner.post(ENDPOINTS, body, status=201)).data["id"])
            queued = command.json("trigger", "webhook.test")
            assert queued["environment"] == "test"
            assert {one["webhookEndpointId"] for one in queued["deliveries"]} == set(made)
            [one] = command.json("trigger", "webhook.test", "--endpoint", made[0])["deliveries"]
            path = f"/api/developer/webhook-deliveries/{one['id']}"
            seen = (await owner.get(path, status=200)).data
            assert (seen["eventType"], seen["status"]) == ("webhook.test", "pending")
            [one] = command.json("trigger", "order.created", "--endpoint", made[0])["deliveries"]
            path = f"/api/developer/webhook-deliveries/{one['id']}"
            seen = (await owner.get(path, status=200)).data
            assert (seen["eventType"], seen["environment"]) == ("order.created", "test")
            assert "ORDER_CREATED" in seen["payloadPreview"]["preview"]
            other = command.refusal(
                "trigger", "webhook.test", "--endpoint", made[0], "--environment", "live"
            )
            assert "--environment test" in other
            await owner.post(f"{ENDPOINTS}/{made[0]}/disable", status=200)
            [left] = command.json("trigger", "webhook.test")["deliveries"]
            assert left["webhookEndpointId"] == made[1]
            said = command.refusal("trigger", "webhook.test", "--endpoint", made[0])
            assert "disabled" in said
            await owner.delete(f"{ENDPOINTS}/{made[0]}", status=200)
            await owner.delete(f"{ENDPOINTS}/{made[1]}", status=200)
            await _happens_without_an_endpoint(command, owner)
            await _is_paid(command, owner)
            await _is_called(command, owner)
            await _has_stayed(command, owner)
    finally:
        await serving.stop()
        serving.kill()


async def _happens_without_an_endpoint(command: Command, owner: Client) -> None:
    """Nothing is delivered, and who listens gets the event: in its book, and in no other."""
    for event in ("webhook.test", "order.created", "messaging.conversation.assigned"):
        told = command.json("trigger", event)
        assert (told["environment"], told["deliveries"]) == ("test", [])
        path = f"/v1/events/stream?events={event}"
        test = await owner.get(path, headers={"Service-Environment": "test"}, status=200)
        [event_id] = told["events"]
        assert (test.data[0]["id"], test.data[0]["type"]) == (event_id, event)
        live = await owner.get(path, headers={"Service-Environment": "live"}, status=200)
        assert event_id not in {each["id"] for each in live.data}


async def _is_paid(command: Command, owner: Client) -> None:
    """A payment is made by a link of the wallet, and both of its events tell of it."""
    [event_id] = command.json("trigger", "payment.received")["events"]
    path = "/v1/events/stream?events=payment.received,wallet.deposit"
    test = await owner.get(path, headers={"Service-Environment": "test"}, status=200)
    assert sorted(one["type"] for one in test.data[:2]) == ["payment.received", "wallet.deposit"]
    assert event_id in {one["id"] for one in test.data}
    listed = "/v1/payment-links?status=PAID"
    links = await owner.get(listed, headers={"Service-Environment": "test"}, status=200)
    assert links.data[0]["amountReceived"] == 250


def test_what_can_not_be_triggered(command: Command, business: str) -> None:
    """An unknown endpoint, a sample among live events, no such event or business."""
    own = ["trigger", "webhook.test", "--business", business]
    assert "no webhook endpoint" in command.refusal(*own, "--endpoint", str(uuid4()))
    live = command.refusal("trigger", "order.created", "--environment", "live")
    assert "test environment" in live
    assert "no event" in command.refusal("trigger", "order.made", code=2)
    nobody = command.refusal("trigger", "webhook.test", "--business", str(uuid4()))
    assert "There is no business" in nobody


async def _is_called(command: Command, owner: Client) -> None:
    """Each event of voice tells of a real call, or of a real change of an agent."""
    test = {"Service-Environment": "test"}
    calls = ("call.started", "call.completed", "call.failed", "recording.ready")
    for event in (*calls, "agent.created", "agent.updated", "agent.deleted"):
        [event_id] = command.json("trigger", f"voice.{event}")["events"]
        path = f"/v1/events/stream?events=voice.{event}"
        told = await owner.get(path, headers=test, status=200)
        assert event_id in {one["id"] for one in told.data}
    made = (await owner.get("/v1/voice/calls", headers=test, status=200)).data
    assert [one["status"] for one in made] == ["completed", "missed", "completed", "completed"]
    assert made[0]["recordingStatus"] == "ready"


async def _has_stayed(command: Command, owner: Client) -> None:
    """A guest walks in, pays for a night and leaves; the books are whole."""
    test = {"Service-Environment": "test"}
    [event_id] = command.json("trigger", "hotel.reservation.checked_out")["events"]
    path = "/v1/events/stream?events=hotel.reservation.checked_out"
    told = (await owner.get(path, headers=test, status=200)).data[0]
    assert told["id"] == event_id
    folio = f"/v1/hotel/reservations/{told['data']['id']}/folio"
    found = (await owner.get(folio, headers=test, status=200)).data
    assert (found["status"], found["amountOwed"], found["paymentsTotal"]) == ("checked_out", 0, 10)
