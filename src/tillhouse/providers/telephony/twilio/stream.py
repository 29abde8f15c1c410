"""The sound of one call over a Media Stream: mu-law in messages, 20 ms at a time, both ways."""

import asyncio
from collections import deque
from typing import Protocol

from tillhouse.providers.telephony.line_sound import HeardAudio
from tillhouse.providers.telephony.provider import FRAME_BYTES, AttemptRecorder, Digit
from tillhouse.providers.telephony.sip import g711
from tillhouse.providers.telephony.twilio import messages

FRAME_S = 0.02
_CATCH_UP_S = FRAME_S / 2
_SILENCE = bytes(FRAME_BYTES)
# So many frames are sent before they are due, against the network's unsteady pace.
_AHEAD = 5
# So many frames are kept until their turn in the recording.
_LATE_MAX = 25
# After so many frames of which none came, silence is heard: time passes for who listens.
_MISSING_MAX = 10
# A mark that doesn't come back is taken to be lost, so many frames after its sound.
_MARK_LOST = 100
_KEYS = frozenset("0123456789*#")
_SOUND_BYTES_MAX = 8_000


class Outlet(Protocol):
    """The connection, as the sound sees it."""

    def send_text(self, text: bytes) -> None:
        """Send a message, without waiting."""
        ...


class QueuedTwilioSound:
    """Sound that was queued; it is over when Twilio tells that it was played."""

    def __init__(self, media: "StreamAudio", name: str, pcm: bytes) -> None:
        self._media, self.name = media, name
        self.rest = memoryview(pcm)[: len(pcm) // 2 * 2]
        self.patience = _MARK_LOST
        self.over = asyncio.Event()
        # Frames are sent ahead; those that are dropped before they are due were never played.
        self.played = 0

    def take(self) -> bytes:
        """The next frame of it."""
        part, self.rest = bytes(self.rest[:FRAME_BYTES]), self.rest[FRAME_BYTES:]
        return part.ljust(FRAME_BYTES, b"\0")

    async def done(self) -> None:
        """Return once it was played, stopped, or the line is over."""
        await self.over.wait()

    def stop(self) -> None:
        """Drop the part that wasn't played yet."""
        self._media.stop(self)


class StreamAudio(HeardAudio):
    """The audio of a line, from the start of its stream to its end."""

    def __init__(self, outlet: Outlet, stream_sid: str, recorder: AttemptRecorder | None) -> None:
        super().__init__(recorder)
        self._outlet, self._sid = outlet, stream_sid
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[QueuedTwilioSound] = deque()
        # Frames that Twilio has, and that aren't due yet.
        self._sent: deque[tuple[QueuedTwilioSound, bytes]] = deque()
        self._marked: dict[str, QueuedTwilioSound] = {}
        self._names = 0
        self._late: deque[bytes] = deque(maxlen=_LATE_MAX)
        self._received = bytearray()
        self._missing = 0
        self.heard_at = self._due = self._loop.time()
        self._ticking = self._loop.call_soon(self._tick)

    def play(self, pcm: bytes) -> QueuedTwilioSound:
        """Queue sound of any length."""
        sound = QueuedTwilioSound(self, self._new_name(), pcm)
        if self._is_closed or not sound.rest:
            sound.over.set()
        else:
            self._waiting.append(sound)
        return sound

    def _new_name(self) -> str:
        self._names += 1
        return f"{self._names}"

    def stop(self, sound: QueuedTwilioSound) -> None:
        """Drop the unplayed part of a sound; others that Twilio has are sent once more."""
        if sound.over.is_set():
            return
        sound.over.set()
        self._marked.pop(sound.name, None)
        if sound in self._waiting:
            self._waiting.remove(sound)
        if all(of is not sound for of, _ in self._sent):
            return
        self._outlet.send_text(messages.clear(self._sid))
        kept = [pair for pair in self._sent if pair[0] is not sound]
        self._sent.clear()
        for of, frame in kept:
            self._send(of, frame)
        # Twilio gives cleared marks back at once, so repeated sounds have marks of new names.
        for other in {id(of): of for of, _ in kept}.values():
            if self._marked.pop(other.name, None) is not None:
                other.name = self._new_name()
                self._mark(other)

    def take(self, message: messages.Incoming) -> None:
        """Take a message of the stream."""
        match message:
            case messages.MediaFrame() if message.media.track == "inbound":
                self.heard_at = self._loop.time()
                self._take_sound(messages.sound_of(message))
            case messages.Dtmf() if message.dtmf.digit in _KEYS:
                self._hear(Digit(message.dtmf.digit))
            case messages.Marked():
                self._take_mark(message.mark.name)
            case _:
                pass

    def _take_sound(self, sound: bytes) -> None:
        self._received += g711.decode("PCMU", sound[:_SOUND_BYTES_MAX])
        while len(self._received) >= FRAME_BYTES:
            frame = bytes(self._received[:FRAME_BYTES])
            del self._received[:FRAME_BYTES]
            self._late.append(frame)
            self._missing = 0
            self._hear(frame)

    def _take_mark(self, name: str) -> None:
        sound = self._marked.pop(name, None)
        if sound is not None:
            sound.over.set()

    def _tick(self) -> None:
        while len(self._sent) <= _AHEAD and self._waiting:
            sound = self._waiting[0]
            self._send(sound, sound.take())
            if not sound.rest:
                self._waiting.popleft()
                self._mark(sound)
        said = _SILENCE
        if self._sent:
            due, said = self._sent.popleft()
            due.played += FRAME_BYTES
        self._record(said, self._late.popleft() if self._late else _SILENCE)
        self._forget_marks()
        self._missing += 1
        if self._missing > _MISSING_MAX:
            self._hear(_SILENCE)
        now = self._loop.time()
        self._due += FRAME_S
        self._ticking = self._loop.call_at(max(self._due, now + _CATCH_UP_S), self._tick)

    def _send(self, sound: QueuedTwilioSound, frame: bytes) -> None:
        self._sent.append((sound, frame))
        self._outlet.send_text(messages.media(self._sid, g711.encode("PCMU", frame)))

    def _mark(self, sound: QueuedTwilioSound) -> None:
        self._marked[sound.name] = sound
        self._outlet.send_text(messages.mark(self._sid, sound.name))

    def _forget_marks(self) -> None:
        """Go on without marks that don't come back."""
        for sound in tuple(self._marked.values()):
            sound.patience -= 1
            if sound.patience <= 0:
                del self._marked[sound.name]
                sound.over.set()

    def close(self) -> None:
        """End everything that plays or listens."""
        if self._is_closed:
            return
        self._is_closed = True
        self._ticking.cancel()
        for sound in (*self._waiting, *self._marked.values()):
            sound.over.set()
        self._something_heard.set()
