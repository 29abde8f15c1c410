"""An installation that calls by real providers: it answers, makes calls and sends webhooks.

async with installation(url, master_key, folder, **settings) as live:
    desk = await live.desk("sip", {"host": "127.0.0.1", "port": "5080"})
    call = await desk.place()
    told = await live.told(4)        # the webhooks that came
"""

import json
import struct
import wave
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.conftest import settings_with
from tests.make import Make
from tests.voice.desk import AGENTS, NUMBERS, SCOPES, Desk
from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import until
from tests.webhooks.tls import Authority
from tillhouse.app import App

CALLER = "+14155550100"
EVENTS = (
    "voice.call.started", "voice.call.completed", "voice.call.failed", "voice.recording.ready",
)  # fmt: skip
_FINAL = ("completed", "failed", "missed", "cancelled")


class Live:
    """The installation, and the receiver of a business's webhooks."""

    def __init__(self, app: App, receiver: Receiver, folder: Path) -> None:
        self.app, self.receiver, self.folder = app, receiver, folder

    async def desk(self, provider: str, settings: dict[str, str]) -> Desk:
        """The live book of a new business, with a number, an agent, and an endpoint."""
        business = await Make(self.app, self.app.services).business(currency="NGN", country="NG")
        await business.endpoint("live", url=self.receiver.url, events=list(EVENTS))
        api = await business.client(*SCOPES, environment="live")
        number = {
            "phone_number": CALLER, "label": "Line", "provider": provider, "settings": settings,
            "calling_hours": None,
        }  # fmt: skip
        made = (await api.post(NUMBERS, number, status=201)).data
        agent = (await api.post(AGENTS, {"name": "Ada"}, status=201)).data
        return Desk(business, api, made["id"], agent["id"])

    async def ended(self, desk: Desk, call_id: str) -> dict[str, Any]:
        """A call once it is over."""
        return await self.until(desk, call_id, *_FINAL)

    async def until(self, desk: Desk, call_id: str, *statuses: str) -> dict[str, Any]:
        """A call once it has one of these statuses."""

        async def look() -> dict[str, Any] | None:
            call = await desk.call(call_id)
            return call if call["status"] in statuses else None

        return await until(look)

    async def told(self, count: int) -> list[str]:
        """The types of the webhooks that came, by their names."""
        return sorted(json.loads(one.body)["type"] for one in await self.receiver.until(count))

    async def recording(self, desk: Desk, call_id: str) -> tuple[Sequence[int], Sequence[int]]:
        """The samples of the agent and of the customer, fetched as a caller would."""
        found = (await desk.api.get(f"/v1/voice/calls/{call_id}/recording", status=200)).data
        path = found["url"].partition("/recordings/")[2]
        body = (await desk.business.anybody.get(f"/recordings/{path}", status=200)).body
        file = self.folder / f"{call_id}.wav"
        file.write_bytes(body)
        with wave.open(str(file)) as sound:
            frames = sound.readframes(sound.getnframes())
        samples = struct.unpack(f"<{len(frames) // 2}h", frames)
        return samples[::2], samples[1::2]


@asynccontextmanager
async def installation(
    url: str, master_key: str, folder: Path, **settings: str
) -> AsyncIterator[Live]:
    """An application that does everything in this process."""
    authority = Authority(folder)
    given = {
        "DATA": str(folder), "PUBLIC_URL": "https://till.example.com",
        "WEBHOOK_ALLOW_TARGETS": "127.0.0.1", "WEBHOOK_CA_FILE": str(authority.ca_file),
    } | settings  # fmt: skip
    read = settings_with(**given)
    receiver = await Receiver().start(authority.server())
    app = App(read, url, master_key, runs_workers=True)
    await app.start()
    try:
        yield Live(app, receiver, folder)
    finally:
        await app.stop()
        await receiver.stop()
