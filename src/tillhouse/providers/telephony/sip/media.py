"""The sound of one call: G.711 over RTP, 20 ms at a time, both ways."""

import asyncio
import contextlib
import secrets
import socket
from collections import deque

import msgspec

from tillhouse.providers.telephony.line_sound import HeardAudio
from tillhouse.providers.telephony.provider import FRAME_BYTES, AttemptRecorder, Digit
from tillhouse.providers.telephony.sip import g711, keys, rtp
from tillhouse.providers.telephony.sip.jitter import JitterBuffer
from tillhouse.providers.telephony.sip.jitter import PacketCounts as Received
from tillhouse.providers.telephony.sip.sdp import SessionDescription
from tillhouse.providers.telephony.sip.wire import HostPort, WireCounts

FRAME_S = 0.02
_SAMPLES = 160
_SILENCE = bytes(FRAME_BYTES)
# After a pause of the process frames follow one another so much faster, never at once.
_CATCH_UP_S = FRAME_S / 2
# Frames that are further behind than that are not sent at all.
_BEHIND_S_MAX = 0.5
_READS = 32


class QueuedRtpSound:
    """Sound that was queued to be sent."""

    def __init__(self, pcm: bytes) -> None:
        self._rest = memoryview(pcm)[: len(pcm) // 2 * 2]
        self._over = asyncio.Event()
        self.played = 0
        if not self._rest:
            self._over.set()

    def take(self, length: int) -> bytes:
        """The next part of it."""
        part, self._rest = bytes(self._rest[:length]), self._rest[length:]
        self.played += len(part)
        if not self._rest:
            self._over.set()
        return part

    @property
    def is_over(self) -> bool:
        """Whether nothing is left of it."""
        return self._over.is_set()

    async def done(self) -> None:
        """Return once it was played, stopped, or the line is over."""
        await self._over.wait()

    def stop(self) -> None:
        """Drop the part that wasn't played yet."""
        self._rest = memoryview(b"")
        self._over.set()


class Flow(msgspec.Struct):
    """Where our own stream stands."""

    sequence: int
    timestamp: int
    source: int
    packets: int = 0
    # The longest time between two packets, and how often frames were left out.
    longest_gap_s: float = 0.0
    left_out: int = 0
    sent_at: float | None = None


class RtpSession(HeardAudio):
    """One RTP session, from the INVITE to the end of the call."""

    def __init__(
        self, opened: socket.socket, counts: WireCounts, recorder: AttemptRecorder | None
    ) -> None:
        super().__init__(recorder)
        self._socket, self._counts = opened, counts
        self.port: int = opened.getsockname()[1]
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(opened, self._read)
        self._session: SessionDescription | None = None
        # The hosts that may send, the source that is taken, and where our packets go.
        self._hosts: frozenset[str] = frozenset()
        self._source: HostPort | None = None
        self._target: HostPort | None = None
        self._jitter = JitterBuffer()
        self._key_reader = keys.KeyReader()
        self._decoded = bytearray()
        self._sounds: deque[QueuedRtpSound] = deque()
        self._pressing: deque[bytes] = deque()
        self._pressed_at = 0
        self._ticking: asyncio.TimerHandle | None = None
        self._due = 0.0
        self.heard_at = 0.0
        self.flow = Flow(secrets.randbits(16), secrets.randbits(32), secrets.randbits(32))

    @property
    def received(self) -> Received:
        """The packets that came, by their fate."""
        return self._jitter.counts

    def begin(self, session: SessionDescription, hosts: frozenset[str]) -> None:
        """Talk to this session from now on; only these hosts may send, and are sent to.

        A session somewhere else gets nothing until it is heard from one of these hosts: a
        telephone behind a router describes itself by an address that only it can reach.
        """
        is_moved = self._session is None or (session.host, session.port) != (
            self._session.host, self._session.port,
        )  # fmt: skip
        if is_moved:
            is_allowed = session.host in hosts
            self._target = (session.host, session.port) if is_allowed else None
            self._source = None
        self._session, self._hosts = session, hosts
        self.heard_at = self._loop.time()
        if self._ticking is None and not self._is_closed:
            self._due = self._loop.time()
            self._tick()

    def play(self, pcm: bytes) -> QueuedRtpSound:
        """Queue sound of any length."""
        sound = QueuedRtpSound(pcm)
        if self._is_closed:
            sound.stop()
        self._sounds.append(sound)
        return sound

    def press(self, key: str) -> None:
        """Send a key, as if it were pressed here; not where the other end knows none."""
        if self._session is not None and self._session.keys_type is not None:
            self._pressing.extend(keys.payloads(key))

    def _tick(self) -> None:
        now = self._loop.time()
        if now - self._due > _BEHIND_S_MAX:
            self._leave_out(now)
        self._turn(now)
        self._due += FRAME_S
        self._ticking = self._loop.call_at(max(self._due, now + _CATCH_UP_S), self._tick)

    def _leave_out(self, now: float) -> None:
        """Go on in the present: time that passed unused was silence."""
        frames = int((now - self._due) / FRAME_S)
        self._due += frames * FRAME_S
        self.flow.left_out += frames
        self.flow.timestamp += frames * _SAMPLES

    def _turn(self, now: float) -> None:
        session = self._session
        if session is None:
            return
        said = _SILENCE
        if not session.is_held:
            said = self._next_sound()
            self._send(session, said, now)
        self.flow.timestamp = (self.flow.timestamp + _SAMPLES) & 0xFFFF_FFFF
        customer = self._next_frame(session)
        self._hear(customer)
        self._record(said, customer)

    def _next_sound(self) -> bytes:
        frame = bytearray()
        while self._sounds and len(frame) < FRAME_BYTES:
            frame += self._sounds[0].take(FRAME_BYTES - len(frame))
            if self._sounds[0].is_over:
                self._sounds.popleft()
        return bytes(frame.ljust(FRAME_BYTES, b"\0"))

    def _send(self, session: SessionDescription, said: bytes, now: float) -> None:
        flow = self.flow
        number, law = session.laws[0]
        kind, payload, timestamp, is_marked = number, b"", flow.timestamp, flow.packets == 0
        if self._pressing and session.keys_type is not None:
            # All packets of a key have the timestamp of its first.
            is_marked = len(self._pressing) % (keys.PACKETS + keys.END_PACKETS) == 0
            self._pressed_at = timestamp if is_marked else self._pressed_at
            kind, payload, timestamp = (
                session.keys_type, self._pressing.popleft(), self._pressed_at,
            )  # fmt: skip
        else:
            payload = g711.encode(_law(law), said)
        packet = rtp.Packet(kind, flow.sequence, timestamp, flow.source, payload, is_marked)
        self._send_bytes(rtp.write(packet))
        flow.sequence = (flow.sequence + 1) & 0xFFFF
        if flow.sent_at is not None:
            flow.longest_gap_s = max(flow.longest_gap_s, now - flow.sent_at)
        flow.sent_at = now
        flow.packets += 1

    def _send_bytes(self, data: bytes) -> None:
        # A packet that is lost: the time-out tells when all of them are.
        with contextlib.suppress(OSError):
            if self._target is not None:
                self._socket.sendto(data, self._target)

    def _next_frame(self, session: SessionDescription) -> bytes:
        """20 ms of the other side; silence where nothing came."""
        while len(self._decoded) < FRAME_BYTES:
            audio = self._jitter.take()
            if audio is None:
                break
            self._decoded += audio
        frame = bytes(self._decoded[:FRAME_BYTES])
        del self._decoded[:FRAME_BYTES]
        return frame.ljust(FRAME_BYTES, b"\0")

    def _read(self) -> None:
        for _ in range(_READS):
            try:
                data, source = self._socket.recvfrom(rtp.PACKET_BYTES_MAX + 1)
            except OSError:
                return
            self._receive(data, (source[0], source[1]))

    def _receive(self, data: bytes, source: HostPort) -> None:
        session = self._session
        if session is None or rtp.is_rtcp(data):
            return
        if source != self._source and (self._source is not None or source[0] not in self._hosts):
            self._counts.foreign_media += 1
            return
        packet = rtp.parse(data)
        laws = dict(session.laws)
        is_key = packet is not None and packet.payload_type == session.keys_type
        if packet is None or not (is_key or packet.payload_type in (*laws, _COMFORT_NOISE)):
            self._counts.broken_media += 1
            return
        # Symmetric RTP: ours goes to where theirs comes from.
        self._source = self._target = source
        self.heard_at = self._loop.time()
        if is_key:
            self._jitter.put(packet.sequence, None)
            key = self._key_reader.read(packet.timestamp, packet.payload)
            if key is not None:
                self._hear(Digit(key))
        else:
            law = laws.get(packet.payload_type)
            audio = g711.decode(_law(law), packet.payload) if law else None
            self._jitter.put(packet.sequence, audio)

    @property
    def is_expected(self) -> bool:
        """Whether the other side should be heard at the moment."""
        return self._session is not None and self._session.direction == "sendrecv"

    def close(self) -> None:
        """End everything that plays or listens."""
        if self._is_closed:
            return
        self._is_closed = True
        self._count()
        if self._ticking is not None:
            self._ticking.cancel()
        self._loop.remove_reader(self._socket)
        self._socket.close()
        for sound in self._sounds:
            sound.stop()
        self._something_heard.set()

    def _count(self) -> None:
        """Add the packets of this call to those of the process."""
        counts, received = self._counts, self.received
        counts.packets_sent += self.flow.packets
        counts.packets_played += received.played
        counts.packets_lost += received.lost
        counts.packets_late += received.late + received.dropped


_COMFORT_NOISE = 13


def _law(name: str) -> g711.Law:
    return "PCMA" if name == "PCMA" else "PCMU"
