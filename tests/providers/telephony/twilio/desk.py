"""A telephone at Twilio, Twilio itself, and the media server between them.

async with opened() as desk:
    line = await desk.dial()
    handset = await Handset(desk.sim, line.sid).answer()
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from tests.providers.telephony.twilio.simulator import (
    ACCOUNT_SID,
    AUTH_TOKEN,
    CUSTOMER,
    OWN_NUMBER,
    TwilioSimulator,
)
from tests.waiting import within
from tillhouse.kit.ids import new_id
from tillhouse.providers.telephony.provider import Dial, NumberAccount
from tillhouse.providers.telephony.twilio.line import TwilioLine, TwilioTiming
from tillhouse.providers.telephony.twilio.media_server import MediaServer
from tillhouse.providers.telephony.twilio.rest import Rest
from tillhouse.providers.telephony.twilio.telephone import TwilioTelephone

QUICK = TwilioTiming(
    ask_every_s=0.02, looks=20, stream_within=timedelta(seconds=0.3),
    gives_up=timedelta(seconds=0.5),
)  # fmt: skip


class Clock:
    """The real time."""

    def now(self) -> datetime:
        """This moment."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Return after so long."""
        await asyncio.sleep(seconds)


class Tape:
    """A recording."""

    def __init__(self) -> None:
        self.agent, self.customer = bytearray(), bytearray()

    def write(self, agent: bytes, customer: bytes) -> None:
        """Add a frame of both sides."""
        assert len(agent) == len(customer) == 320
        self.agent += agent
        self.customer += customer


class Desk:
    """A telephone, Twilio, and what is between them."""

    def __init__(
        self, sim: TwilioSimulator, media: MediaServer, telephone: TwilioTelephone
    ) -> None:
        self.sim, self.media, self.telephone = sim, media, telephone

    async def dial(self, **more: Any) -> TwilioLine:
        """Dial, until Twilio knows the call."""
        line = await self.telephone.dial(attempt(**more))
        assert isinstance(line, TwilioLine)
        await self.until(lambda: line.sid is not None)
        return line

    async def until(self, holds: Any) -> None:
        """Wait until something holds."""
        async with within():
            while not holds():  # noqa: ASYNC110 - many things change it
                await asyncio.sleep(0.005)


def attempt(**more: Any) -> Dial:
    """An attempt to call the customer."""
    settings = {"account_sid": ACCOUNT_SID, "auth_token": AUTH_TOKEN, **more.pop("settings", {})}
    return msgspec.structs.replace(
        Dial(
            attempt_id=new_id(), attempt=1, to=CUSTOMER, from_number=OWN_NUMBER,
            ring_within=timedelta(seconds=30), talk_within=timedelta(minutes=5),
            account=NumberAccount(settings), clock=Clock(),
        ),
        **more,
    )  # fmt: skip


@asynccontextmanager
async def opened(timing: TwilioTiming = QUICK, silence_s: float = 30.0) -> AsyncIterator[Desk]:
    """A desk."""
    sim = await TwilioSimulator().start()
    media = MediaServer("127.0.0.1", 0, silence_s=silence_s)
    port = await media.start()
    telephone = TwilioTelephone(media, f"ws://127.0.0.1:{port}/media", Rest(sim.base_url), timing)
    yield Desk(sim, media, telephone)
    await telephone.close()
    await media.close()
    await sim.stop()
