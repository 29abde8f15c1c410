"""Cuts the sound of a line into utterances: speech stands out of the line's own noise.

The threshold follows the noise: twice the quietest tenth of a second of the last three seconds.
Tones below 150 Hz, such as the hum of mains, are taken out before anything is measured.
"""

import struct
from collections import deque
from itertools import accumulate, repeat
from operator import mul, sub

import msgspec

# Means of absolute samples. Below this nothing is speech, however quiet the line is.
_LOUD = 500.0
# Speech is so much louder than the noise of its line, which is taken to be no louder than that.
_ABOVE_NOISE = 2.0
_NOISE_MAX = 1250.0
# Levels that vary less than that are noise, which may begin at any moment; a voice may, too, but
# not for so many frames: a tone or a machine that is as loud as speech is soon taken for noise.
_STEADY = 1.6
_STEADY_FRAMES = 50
_SMOOTHED_FRAMES = 5
_NOISE_FRAMES = 150
# Fewer loud frames are a click. So many are somebody who talks, and not only answers.
_CLICK_FRAMES = 4
_TALK_FRAMES = 10
# A pause of so many frames ends an utterance; after so many it is somebody else's turn.
_END_FRAMES = 40
_PAUSE_FRAMES = 25
_LEAD_FRAMES = 10
_FRAMES_MAX = 50 * 20
# The window of the mean that is taken away: it leaves tones above 300 Hz, and none below 150.
_MEAN = 16
_HALF = _MEAN // 2


class Utterance(msgspec.Struct, frozen=True):
    """The sound of an utterance, and how many frames ago it began and ended."""

    sound: bytes
    began_ago: int
    ended_ago: int


class LevelMeter:
    """Measures how loud each frame is without its deep tones."""

    def __init__(self) -> None:
        self._before = (0,) * _MEAN

    def level(self, frame: bytes) -> float:
        """The mean of the absolute samples of 20 ms."""
        samples = struct.unpack(f"<{len(frame) // 2}h", frame[: len(frame) // 2 * 2])
        if not samples:
            return 0.0
        padded = (*self._before, *samples)
        self._before = padded[-_MEAN:]
        sums = list(accumulate(padded, initial=0))
        means = map(sub, sums[_MEAN:], sums)
        scaled = map(mul, padded[_HALF : _HALF + len(samples)], repeat(_MEAN))
        return sum(map(abs, map(sub, scaled, means))) / (len(samples) * _MEAN)


class NoiseFloor:
    """The noise of a line: it falls at once, and rises when nothing was quieter for seconds."""

    def __init__(self) -> None:
        self._recent: deque[float] = deque(maxlen=_SMOOTHED_FRAMES)
        self._smoothed: deque[float] = deque(maxlen=_NOISE_FRAMES)
        self._loudest = _NOISE_MAX

    def take(self, level: float) -> float:
        """Add a frame; the level from which on a frame is loud."""
        self._recent.append(level)
        self._smoothed.append(sum(self._recent) / len(self._recent))
        noise = min(self._smoothed)
        return max(_LOUD, _ABOVE_NOISE * min(self._loudest, noise))

    def is_at(self, level: float) -> None:
        """Noise of this level has begun."""
        self._loudest = max(self._loudest, level)
        self._smoothed.clear()
        self._smoothed.append(level)


class Utterances:
    """Cuts the heard sound into utterances."""

    def __init__(self) -> None:
        self._meter, self._noise = LevelMeter(), NoiseFloor()
        self._frames: list[bytes] = []
        self._loud: list[float] = []
        self._quiet = 0
        self._since = 0
        # Loud frames without a quiet one between them.
        self._unbroken = 0

    def take(self, frame: bytes) -> Utterance | None:
        """Add 20 ms; an utterance when it is over."""
        level = self._meter.level(frame)
        is_loud = level >= self._noise.take(level)
        self._frames.append(frame)
        if is_loud:
            self._loud.append(level)
            self._quiet = 0
        if not self._loud:
            del self._frames[:-_LEAD_FRAMES]
            return None
        self._since += 1
        if not is_loud:
            self._quiet += 1
        self._unbroken = self._unbroken + 1 if is_loud else 0
        is_long = self._unbroken >= _STEADY_FRAMES
        if (len(self._loud) == _TALK_FRAMES or is_long) and self._is_noise():
            levels = self._loud[-_STEADY_FRAMES:]
            self._noise.is_at(sum(levels) / len(levels))
            self._forget()
        elif self._quiet >= _END_FRAMES or len(self._frames) >= _FRAMES_MAX:
            return self.finish()
        return None

    def finish(self) -> Utterance | None:
        """End the utterance that is under way; None where there is none."""
        found = None
        if len(self._loud) >= _CLICK_FRAMES and not self._is_noise():
            found = Utterance(b"".join(self._frames), self._since, self._quiet)
        self._forget()
        return found

    def _is_noise(self) -> bool:
        """Whether it is even, and as quiet as noise is or for longer than speech is."""
        levels = self._loud[2:][-_STEADY_FRAMES:]
        if len(levels) < _CLICK_FRAMES:
            return False
        is_quiet = sum(levels) <= _NOISE_MAX * len(levels)
        is_long = self._unbroken >= _STEADY_FRAMES
        return max(levels) < _STEADY * min(levels) and (is_quiet or is_long)

    def _forget(self) -> None:
        self._frames, self._loud, self._quiet, self._since = [], [], 0, 0
        self._unbroken = 0

    @property
    def begins(self) -> bool:
        """Whether the last frame may have begun an utterance."""
        return self._since == 1

    @property
    def is_loud(self) -> bool:
        """Whether the last frame was loud."""
        return bool(self._loud) and self._quiet == 0

    @property
    def has_begun(self) -> bool:
        """Whether an utterance is under way."""
        return len(self._loud) >= _CLICK_FRAMES

    @property
    def interrupts(self) -> bool:
        """Whether the last frame makes it sure that somebody talks."""
        return len(self._loud) == _TALK_FRAMES and self._quiet == 0

    @property
    def is_talking(self) -> bool:
        """Whether somebody talks, and doesn't pause."""
        return self.has_begun and self._quiet < _PAUSE_FRAMES
