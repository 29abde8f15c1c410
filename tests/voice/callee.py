"""The telephone of somebody who is called by SIP: its sound goes out at the pace of what comes in.

async with peer() as theirs, answered(theirs) as callee:
    callee.says(sound)
    await callee.waits_until_asked()
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.providers.telephony.sip.peer import Peer
from tests.waiting import within
from tillhouse.providers.telephony.provider import FRAME_BYTES
from tillhouse.providers.telephony.sip import g711

_SILENCE = g711.encode("PCMU", bytes(FRAME_BYTES))
_FRAMES_PER_S = 50
_RATE = 8000


class Callee:
    """One answered call, as the other side has it."""

    def __init__(self, theirs: Peer, to: tuple[str, int]) -> None:
        self._theirs, self._to = theirs, to
        self._saying = bytearray()

    def says(self, sound: bytes) -> None:
        """Say it now, or after what is being said."""
        self._saying += g711.encode("PCMU", sound)

    async def send(self) -> None:
        """Send a packet for each that comes."""
        sequence, length = 0, len(_SILENCE)
        while True:
            await self._theirs.sound.count(sequence + 1)
            part = bytes(self._saying[:length])
            del self._saying[:length]
            self._theirs.sound.send(self._to, sequence, part.ljust(length, _SILENCE[:1]))
            sequence += 1

    def audible_s(self, from_s: float, until_s: float | None = None) -> float:
        """For how many seconds the agent was heard from a moment of the call on."""
        last = None if until_s is None else round(until_s * _FRAMES_PER_S)
        packets = self._theirs.sound.packets[round(from_s * _FRAMES_PER_S) : last]
        return sum(_is_audible(payload) for _, _, _, payload in packets) / _FRAMES_PER_S

    async def waits_until_asked(self, begun_s: float = 0.0) -> float:
        """Wait until the agent has talked for so long, and pauses; the second of the call."""
        packets = self._theirs.sound.packets
        async with within():
            while (
                self.audible_s(0) < begun_s
                or len(packets) < 100
                or any(_is_audible(one[3]) for one in packets[-75:])
            ):
                await self._theirs.sound.count(len(packets) + 1)
        # A sender that stood still leaves out packets; the timestamps go on.
        return ((packets[-1][2] - packets[0][2]) & 0xFFFF_FFFF) / _RATE


def _is_audible(payload: bytes) -> bool:
    return not frozenset(_SILENCE[:1]).issuperset(payload)


@asynccontextmanager
async def answered(theirs: Peer) -> AsyncIterator[Callee]:
    """Let it ring once, and answer the call."""
    invite = await theirs.got("INVITE")
    theirs.reply(invite, 180)
    theirs.accept(invite)
    await theirs.got("ACK")
    callee = Callee(theirs, invite.media())
    sending = asyncio.create_task(callee.send())
    try:
        yield callee
    finally:
        sending.cancel()
