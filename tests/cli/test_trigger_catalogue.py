"""Every event of the catalogue: triggered, told by its real operation, delivered and verified."""

import asyncio
import json
from pathlib import Path
from uuid import UUID

import aiohttp
import pytest
import stripe

from tests.cli.command import Command
from tests.cli.test_trigger import ENDPOINTS, login
from tests.make import Make
from tests.system.serving import Serving, until
from tests.webhooks.receiver import Received, Receiver
from tests.webhooks.tls import Authority
from tillhouse.access.process import Services
from tillhouse.app import PRODUCT
from tillhouse.cli.trigger_operations import operation_of
from tillhouse.cli.triggering import Desk
from tillhouse.kit.ids import BusinessId, new_id
from tillhouse.webhooks.store.stream import list_events_after

CATALOGUE = [event.name for event in PRODUCT.declared.events]


async def test_every_event_happens_by_its_operation(services: Services, make: Make) -> None:
    """Once its operation is done, without a worker that does the rest."""
    desk = Desk(services, BusinessId(UUID((await make.business()).id)))
    async with services.pool.reading() as db:
        book_id = (await desk.call(db)).book.id
    silent: list[str] = []
    for name in CATALOGUE:
        began, operation = new_id(), operation_of(name)
        assert operation is not None, name
        await operation(desk)
        async with services.pool.reading() as db:
            if not await list_events_after(db, book_id, began, [name], [], 10):
                silent.append(name)
    assert silent == []


@pytest.mark.proof
async def test_every_event_is_delivered(command: Command, tmp_path: Path) -> None:
    """An endpoint that wants them all receives each, signed, with the data of what was done."""
    demo = command.json("demo")
    receiver = await Receiver().start(Authority(tmp_path).server())
    serving = await Serving.up(
        DATA=str(command.data),
        LOG_LEVEL="warning",
        WEBHOOK_ALLOW_TARGETS="127.0.0.1",
        WEBHOOK_CA_FILE=str(tmp_path / "ca.pem"),
    )
    try:
        async with aiohttp.ClientSession() as session:
            owner = await login(session, serving.address, demo)
            body = {
                "name": "All", "url": receiver.url, "environment": "test", "events": ["*"],
            }  # fmt: skip
            endpoint = (await owner.post(ENDPOINTS, body, status=201)).data
            await owner.post("/api/auth/verify-password", {"password": demo["password"]})
            path = "/api/developer/webhook-settings/test/view-secret"
            secret = (await owner.post(path, {}, status=200)).data["secret"]
            for name in CATALOGUE:
                await _is_delivered(command, receiver, name, secret)
            await owner.delete(f"{ENDPOINTS}/{endpoint['id']}", status=200)
        assert await serving.stop() == 0, serving.log
    finally:
        serving.kill()
        await receiver.stop()


async def _is_delivered(command: Command, receiver: Receiver, name: str, secret: str) -> None:
    told = await asyncio.to_thread(command.json, "trigger", name)
    assert told["events"], name

    def found() -> list[Received]:
        return [one for one in receiver.received if one.event_id in told["events"]]

    await until(lambda: bool(found()), f"{name} delivered")
    for got in found():
        header = got.headers["Service-Signature"]
        stripe.Webhook.construct_event(got.body, header, secret)  # type: ignore[no-untyped-call]
        payload = json.loads(got.body)
        assert (payload["type"], payload["environment"]) == (name, "test")
        assert payload["data"]
