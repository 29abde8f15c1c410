"""Calls as tests make them: a telephone, attempts, and what their lines tell."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from tests.providers.telephony.sip.peer import Msg, Peer
from tests.waiting import ended
from tillhouse.kit.clock import now
from tillhouse.providers.names import LookUp, look_up
from tillhouse.providers.telephony.provider import (
    Answered,
    AttemptRecorder,
    CallLine,
    Dial,
    Happening,
    LineEnded,
    NumberAccount,
)
from tillhouse.providers.telephony.sip.media import RtpSession
from tillhouse.providers.telephony.sip.telephone import SipTelephone
from tillhouse.providers.telephony.sip.transactions import REAL, SipTiming
from tillhouse.providers.telephony.targets import ANYWHERE, Targets

# Everything that takes seconds takes hundredths.
QUICK = SipTiming(t1=0.02, t2=0.16, media_lost=0.4)


class RealClock:
    """The time of this machine."""

    def now(self) -> datetime:
        """This moment."""
        return now()

    async def sleep(self, seconds: float) -> None:
        """Return after so long."""
        await asyncio.sleep(seconds)


@asynccontextmanager
async def telephone(
    timing: SipTiming = REAL, targets: Targets = ANYWHERE, ask: LookUp = look_up
) -> AsyncIterator[SipTelephone]:
    """A telephone that is put down in the end."""
    made = SipTelephone(timing, targets, ask)
    try:
        yield made
    finally:
        await made.close(0)


def attempt(
    to: str,
    *,
    ring_s: float = 60,
    talk_s: float = 60,
    settings: Mapping[str, str] | None = None,
    recorder: AttemptRecorder | None = None,
) -> Dial:
    """An attempt to call somebody."""
    return Dial(
        attempt_id=uuid4(),
        attempt=1,
        to=to,
        from_number="+2348030000000",
        ring_within=timedelta(seconds=ring_s),
        talk_within=timedelta(seconds=talk_s),
        account=NumberAccount(settings or {}),
        clock=RealClock(),
        recorder=recorder,
    )


class Call:
    """A line, and what it tells."""

    def __init__(self, line: CallLine) -> None:
        self.line = line
        self._events = line.events()

    async def next(self) -> Happening:
        """The next that happens."""
        return await ended(self._next())

    async def _next(self) -> Happening:
        return await anext(self._events)

    async def end(self) -> LineEnded:
        """The end; nothing may happen after it."""
        while not isinstance(happening := await self.next(), LineEnded):
            pass
        assert [one async for one in self._events] == []
        return happening

    @property
    def media(self) -> RtpSession:
        """The sound of the line."""
        media = self.line.party
        assert isinstance(media, RtpSession)
        return media


async def dialled(telephone: SipTelephone, to: str, **given: Any) -> Call:
    """A call that was begun."""
    return Call(await telephone.dial(attempt(to, **given)))


async def answered(telephone: SipTelephone, peer: Peer, **given: Any) -> tuple[Call, Msg]:
    """A call that the peer has answered, and its INVITE."""
    call = await dialled(telephone, peer.uri, **given)
    invite = await peer.got("INVITE")
    peer.accept(invite)
    assert isinstance(await call.next(), Answered)
    await peer.got("ACK")
    return call, invite
