"""A line on a wire of its own time: each tick sends 20 ms of the agent and hears 20 ms.

wire = Wire()
wire.says(2.0, speech(0.4))       # the customer talks, two seconds after the answer
wire.presses(0.8, "1")
wire.hangs_up(3.0)
party = wire.party()
async with wire.running(): …
wire.sent                         # every sample that went out
"""

import asyncio
import math
import random
import struct
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from tillhouse.providers.telephony.provider import FRAME, FRAME_BYTES, SAMPLES_PER_SECOND, Digit
from tillhouse.providers.telephony.sip.media import QueuedRtpSound
from tillhouse.voice.speech.party import LineEngines, SpokenParty
from tillhouse.voice.speech.protocols import HeardWords

ANSWERED = datetime(2026, 1, 5, 12, tzinfo=UTC)
# Between two ticks everything else goes on.
_ROUNDS = 24
# Each letter of what is said lasts so long.
LETTER_BYTES = FRAME_BYTES * 3
_QUIET = bytes(FRAME_BYTES)


def pcm(samples: Iterable[float]) -> bytes:
    """Samples, cut where they are too loud."""
    whole = [max(-32_767, min(32_767, round(one))) for one in samples]
    return struct.pack(f"<{len(whole)}h", *whole)


def speech(seconds: float, peak: float = 9000, seed: int = 0) -> bytes:
    """Something like a voice: a buzz of harmonics in syllables of a fifth of a second."""
    pitch = random.Random(seed).uniform(110, 190)  # noqa: S311 - the same voice each time
    tones = [pitch * number for number in range(2, 12)]

    def sample(at: int) -> float:
        moment = at / SAMPLES_PER_SECOND
        syllable = abs(math.sin(math.pi * moment / 0.2)) ** 0.7
        return peak / 4 * syllable * sum(math.sin(2 * math.pi * t * moment) for t in tones) / 2

    return pcm(sample(at) for at in range(round(SAMPLES_PER_SECOND * seconds)))


def noise(seconds: float, dbfs: float, hum_hz: float | None = None, seed: int = 0) -> bytes:
    """Noise of every pitch at this level, or a hum of one."""
    chance = random.Random(seed)  # noqa: S311 - the same noise each time
    level = 32_768 * 10 ** (dbfs / 20)
    count = round(SAMPLES_PER_SECOND * seconds)
    if hum_hz is None:
        return pcm(chance.gauss(0, level) for _ in range(count))
    turn = 2 * math.pi * hum_hz / SAMPLES_PER_SECOND
    return pcm(level * math.sqrt(2) * math.sin(turn * at) for at in range(count))


def tone(hertz: float, seconds: float, peak: float = 8000) -> bytes:
    """A tone, such as a machine's beep."""
    turn = 2 * math.pi * hertz / SAMPLES_PER_SECOND
    return pcm(peak * math.sin(turn * at) for at in range(round(SAMPLES_PER_SECOND * seconds)))


def mixed(one: bytes, other: bytes) -> bytes:
    """Two sounds at once; the length is that of the first."""
    count = len(one) // 2
    other = other.ljust(len(one), b"\0")[: len(one)]
    both = zip(struct.unpack(f"<{count}h", one), struct.unpack(f"<{count}h", other), strict=True)
    return pcm(first + second for first, second in both)


class LetterVoice:
    """An engine that speaks letter by letter, so that a sound tells its words."""

    async def speak(self, text: str, language: str) -> bytes:
        """A level for each letter; a blank is as audible as the others."""
        frames = [struct.pack("<h", 1000 + ord(letter)) for letter in text]
        return b"".join(frame * (LETTER_BYTES // 2) for frame in frames)


def letters(sent: bytes) -> str:
    """The letters that a sound of `LetterVoice` holds, as far as each was sent whole."""
    samples = struct.unpack(f"<{len(sent) // 2}h", sent)
    length = LETTER_BYTES // 2
    found: list[str] = []
    run = 0
    for at, one in enumerate(samples):
        is_same = at > 0 and one == samples[at - 1]
        run = run + 1 if is_same else 1
        if one and run % length == 0:
            found.append(chr(one - 1000))
    return "".join(found)


class WordEar:
    """An engine that hears what the customer meant, utterance by utterance."""

    def __init__(self) -> None:
        self.meant: deque[str] = deque()

    async def hear(self, pcm: bytes, phrases: tuple[str, ...], language: str) -> HeardWords | None:
        """The next words."""
        return HeardWords(self.meant.popleft(), 0.9) if self.meant else None


class Wire:
    """The line: what the customer does is set by its time, what the agent sends is kept."""

    def __init__(self, background: bytes = b"") -> None:
        self.ear = WordEar()
        self.sent = bytearray()
        self.frames = 0
        self.is_over = False
        # Called before each tick, with the seconds since the answer.
        self.watch: Callable[[float], None] = lambda _: None
        self._background = background
        self._doing: list[tuple[float, bytes | str | None]] = []
        self._talking = bytearray()
        self._sounds: deque[QueuedRtpSound] = deque()
        self._heard: asyncio.Queue[bytes | Digit | None] = asyncio.Queue()

    @property
    def seconds(self) -> float:
        """The time since the answer."""
        return self.frames * FRAME.total_seconds()

    def now(self) -> datetime:
        """This moment of the line."""
        return ANSWERED + FRAME * self.frames

    def since(self, moment: datetime) -> float:
        """The seconds from the answer to a moment."""
        return (moment - ANSWERED) / timedelta(seconds=1)

    def party(self) -> SpokenParty:
        """Its other side."""
        return SpokenParty(self, LineEngines(LetterVoice(), self.ear, "en"), self.now)

    def says(self, at: float, sound: bytes, words: str = "") -> None:
        """The customer talks."""
        self._doing.append((at, sound))
        if words:
            self.ear.meant.append(words)

    def presses(self, at: float, key: str) -> None:
        """The customer presses a key."""
        self._doing.append((at, key))

    def hangs_up(self, at: float) -> None:
        """The customer hangs up."""
        self._doing.append((at, None))

    def play(self, pcm: bytes) -> QueuedRtpSound:
        """Queue sound, as a line does."""
        sound = QueuedRtpSound(pcm)
        if self.is_over:
            sound.stop()
        self._sounds.append(sound)
        return sound

    async def heard(self) -> AsyncIterator[bytes | Digit]:
        """Everything that comes in."""
        while (one := await self._heard.get()) is not None:
            yield one

    @property
    def is_sending(self) -> bool:
        """Whether the agent is heard."""
        return any(not sound.is_over for sound in self._sounds)

    def _tick(self) -> None:
        self.watch(self.seconds)
        due = [one for one in self._doing if one[0] <= self.seconds + 1e-9]
        self._doing = [one for one in self._doing if one not in due]
        for _, done in due:
            if done is None:
                self.end()
                return
            if isinstance(done, str):
                self._heard.put_nowait(Digit(done))
            else:
                self._talking += done
        while self._sounds and self._sounds[0].is_over:
            self._sounds.popleft()
        said = self._sounds[0].take(FRAME_BYTES) if self._sounds else b""
        self.sent += said.ljust(FRAME_BYTES, b"\0")
        frame = bytes(self._talking[:FRAME_BYTES]).ljust(FRAME_BYTES, b"\0")
        del self._talking[:FRAME_BYTES]
        if self._background:
            begins = self.frames * FRAME_BYTES % (len(self._background) - FRAME_BYTES)
            frame = mixed(frame, self._background[begins : begins + FRAME_BYTES])
        self.frames += 1
        self._heard.put_nowait(frame)

    def end(self) -> None:
        """The line is over."""
        self.is_over = True
        for sound in self._sounds:
            sound.stop()
        self._heard.put_nowait(None)

    async def _run(self, until_s: float) -> None:
        while not self.is_over and self.seconds < until_s:
            self._tick()
            for _ in range(_ROUNDS):
                await asyncio.sleep(0)

    @asynccontextmanager
    async def running(self, until_s: float = 120.0) -> AsyncIterator[None]:
        """Let time pass on it."""
        task = asyncio.ensure_future(self._run(until_s))
        try:
            yield
        finally:
            task.cancel()
