"""A database that is away as a call ends: the end is written once it is back."""

import asyncio
from collections.abc import AsyncIterator

from tests.voice.desk import Desk, phone
from tests.voice.test_simulated_calls import COMPLETED, READY, STARTED, events
from tests.voice.virtual import Network, VirtualClock
from tests.waiting import ended
from tillhouse.access.process import Services
from tillhouse.app import App
from tillhouse.kit.clock import now
from tillhouse.providers.telephony.provider import Dial, Happening, LineEnded
from tillhouse.providers.telephony.simulator.rules import Chance
from tillhouse.providers.telephony.simulator.telephone import SimulatedLine, Simulator


class _Line(SimulatedLine):
    """A line at whose end nothing can be written for a moment."""

    def __init__(self, dial: Dial, chance: Chance, services: Services) -> None:
        super().__init__(dial, chance)
        self._services = services
        self.coming_back: asyncio.Task[None] | None = None

    async def events(self) -> AsyncIterator[Happening]:
        """The table of attempts is away from the end until something was refused."""
        async for happening in super().events():
            if isinstance(happening, LineEnded):
                await _rename(self._services, "voice_attempts", "attempts_away")
                self.coming_back = asyncio.create_task(self._come_back())
            yield happening

    async def _come_back(self) -> None:
        before = self._services.pool.statements
        while self._services.pool.statements < before + 4:  # noqa: ASYNC110 - others count them
            await asyncio.sleep(0.01)
        await _rename(self._services, "attempts_away", "voice_attempts")


class _Telephone(Simulator):
    """Makes one such line."""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self._services = services
        self.line: _Line | None = None

    async def dial(self, dial: Dial) -> SimulatedLine:
        """Begin an attempt."""
        self.line = _Line(dial, Chance(0, dial.to, dial.attempt), self._services)
        return self.line


async def _rename(services: Services, name: str, other: str) -> None:
    async with services.pool.transaction() as db:
        await db.execute(f"ALTER TABLE {name} RENAME TO {other}")  # type: ignore[arg-type]


async def test_an_end_outlives_an_outage(caller: Desk, network_app: App) -> None:
    """Completed, told once, with its recording: not failed for want of knowledge."""
    services = network_app.services
    placed = await caller.place(customer_phone=phone())
    telephone = _Telephone(services)
    await Network(services, VirtualClock(now()), telephone).run()
    assert telephone.line is not None
    assert telephone.line.coming_back is not None
    await ended(telephone.line.coming_back)
    call = await caller.call(placed["id"])
    assert (call["status"], call["endedReason"]) == ("completed", "agent_hangup")
    assert [one["result"] for one in call["attempts"]] == ["hung_up"]
    told = [one["type"] for one in await events(caller, placed["id"])]
    assert told == [STARTED, COMPLETED, READY]
