"""The telephone of a customer who is called by SIP: its time is that of the packets that come.

async with peer() as theirs, answered(theirs) as callee:
    callee.says(sound)
    await callee.waits_until_asked(question)
"""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.providers.telephony.sip.peer import Msg, Peer
from tests.voice.speech.wire import mixed
from tests.waiting import within
from tillhouse.providers.telephony.provider import FRAME_BYTES
from tillhouse.providers.telephony.sip import g711

_SILENCE = g711.encode("PCMU", bytes(FRAME_BYTES))
_FRAMES_PER_S = 50
_RATE = 8000


class Callee:
    """One answered call, as the other side has it."""

    def __init__(self, theirs: Peer, invite: Msg) -> None:
        self._theirs, self._invite, self._to = theirs, invite, invite.media()
        self._saying = bytearray()
        # The noise of the line, heard again and again.
        self.background = bytes(FRAME_BYTES)
        self.has_hung_up = False

    def says(self, sound: bytes) -> None:
        """Say it now, or after what is being said."""
        self._saying += sound

    def presses(self, key: int) -> None:
        """Press a key."""
        press(self._theirs, self._to, key)

    def hangs_up(self) -> None:
        """End the call."""
        self.has_hung_up = True
        self._theirs.ask(self._invite, "BYE", 2)

    async def send(self) -> None:
        """Send a packet for each that comes, and for each that was left out before it."""
        sequence = came = 0
        while True:
            if came == 0 or sequence > round(self._second(came - 1) * _FRAMES_PER_S):
                came += 1
                await self._theirs.sound.count(came)
            part = bytes(self._saying[:FRAME_BYTES])
            del self._saying[:FRAME_BYTES]
            begins = sequence * FRAME_BYTES % max(1, len(self.background) - FRAME_BYTES)
            noise = self.background[begins : begins + FRAME_BYTES]
            payload = g711.encode("PCMU", mixed(part.ljust(FRAME_BYTES, b"\0"), noise))
            self._theirs.sound.send(self._to, sequence, payload)
            sequence += 1

    async def until(self, second: float) -> None:
        """Wait until this second of the call."""
        await self._theirs.sound.count(round(second * _FRAMES_PER_S))

    @property
    def seconds(self) -> float:
        """The time since the first packet; a sender that stood still leaves out packets."""
        return self._second(len(self._theirs.sound.packets) - 1)

    def _second(self, index: int) -> float:
        packets = self._theirs.sound.packets
        return ((packets[index][2] - packets[0][2]) & 0xFFFF_FFFF) / _RATE

    def audible_s(self, from_s: float, until_s: float | None = None) -> float:
        """For how many seconds the agent was heard from a moment of the call on."""
        last = None if until_s is None else round(until_s * _FRAMES_PER_S)
        packets = self._theirs.sound.packets[round(from_s * _FRAMES_PER_S) : last]
        return sum(_is_audible(payload) for _, _, _, payload in packets) / _FRAMES_PER_S

    def heard_times(self, pcm: bytes, share: float = 1.0) -> int:
        """How often a sound of the agent's was heard, from its beginning for such a share of it."""
        payloads = [payload for _, _, _, payload in self._theirs.sound.packets]
        frames = [
            g711.encode("PCMU", pcm[at : at + FRAME_BYTES].ljust(FRAME_BYTES, b"\0"))
            for at in range(0, len(pcm), FRAME_BYTES)
        ]
        audible = [index for index, frame in enumerate(frames) if _is_audible(frame)]
        wanted = frames[audible[0] : audible[0] + round(share * (audible[-1] + 1 - audible[0]))]
        length = len(wanted)
        return sum(payloads[at : at + length] == wanted for at in range(len(payloads) - length + 1))

    async def hears_for(self, seconds: float) -> None:
        """Wait until the agent was heard for so long."""
        async with within():
            while self.audible_s(0) < seconds:
                await self._theirs.sound.count(len(self._theirs.sound.packets) + 1)

    async def waits_until_asked(self, question: bytes) -> float:
        """Wait until the agent has said this, and pauses; the second of the call.

        A pause alone tells nothing: between two sentences a busy machine pauses, too.
        """
        packets = self._theirs.sound.packets
        async with within():
            while any(_is_audible(one[3]) for one in packets[-75:]) or not self.heard_times(
                question
            ):
                await self._theirs.sound.count(len(packets) + 1)
        return self.seconds


def press(theirs: Peer, to: tuple[str, int], key: int) -> None:
    """Press a key, as RFC 4733 has it."""
    for sequence, flags in enumerate((0x0A, 0x0A, 0x8A, 0x8A, 0x8A)):
        packet = struct.pack("!BBHII", 0x80, 0x80 | 101, 9000 + sequence, 1_000_000, 77)
        theirs.sound.socket.sendto(packet + struct.pack("!BBH", key, flags, 800), to)


def _is_audible(payload: bytes) -> bool:
    return not frozenset(_SILENCE[:1]).issuperset(payload)


@asynccontextmanager
async def answered(theirs: Peer) -> AsyncIterator[Callee]:
    """Let it ring once, and answer the call."""
    invite = await theirs.got("INVITE")
    theirs.reply(invite, 180)
    theirs.accept(invite)
    await theirs.got("ACK")
    callee = Callee(theirs, invite)
    sending = asyncio.create_task(callee.send())
    try:
        yield callee
    finally:
        sending.cancel()
