"""Tells a machine from a person, by its greeting: it talks longer, and ends with a beep."""

import struct
from itertools import pairwise

# A person says hello; so many frames of voice before the first question are a machine's.
_VOICE_FRAMES = 125
# With a beep after it, a greeting may be as short as that.
_BEFORE_BEEP_FRAMES = 30
# A beep is a tone between these pitches that lasts so long, in frames.
_CROSSINGS = range(14, 90)
_BEEP_FRAMES = range(8, 100)
_AUDIBLE = 250
_SAME_CROSSINGS = 2
_SAME_LEVEL = 1.25
# So much voice is somebody who greets, until so many frames have neither voice nor beep.
_GREETING_FRAMES = 10
_PAUSE_FRAMES = 40
# So many quiet frames end a greeting without a beep.
_SILENT_FRAMES = 100


class MachineDetector:
    """Listens to the beginning of a call."""

    def __init__(self) -> None:
        self._voice = 0
        self._tone = 0
        self._talks_long = False
        self._silent = 0
        self._since_voice = 0
        self._has_beeped = False
        self._last = (0, 0.0)
        # The pitch at which the tone began: one that moves away from it is no beep.
        self._pitch = 0

    def take(self, frame: bytes, *, is_loud: bool, is_opening: bool = True) -> None:
        """Add 20 ms, which are loud or not beside the line's noise.

        A person who was asked may talk for long: after the opening only a beep is a machine's.
        """
        is_tone = self._is_tone(frame)
        if self._tone in _BEEP_FRAMES and not is_tone and self._voice >= _BEFORE_BEEP_FRAMES:
            self._has_beeped = True
        self._tone = self._lasted() if is_tone else 0
        if is_loud and not is_tone:
            self._voice += 1
            self._since_voice = 0
        elif self._tone not in _BEEP_FRAMES:
            self._since_voice += 1
        if is_opening and self._voice >= _VOICE_FRAMES:
            self._talks_long = True
        self._silent = 0 if is_loud or is_tone else self._silent + 1

    def _lasted(self) -> int:
        """For how many frames the tone has kept its pitch."""
        pitch = self._last[0]
        if self._tone and abs(pitch - self._pitch) <= _SAME_CROSSINGS:
            return self._tone + 1
        self._pitch = pitch
        return 1

    def _is_tone(self, frame: bytes) -> bool:
        """Whether it goes on with the tone of the frame before."""
        samples = struct.unpack(f"<{len(frame) // 2}h", frame[: len(frame) // 2 * 2])
        crossings = sum((one < 0) != (other < 0) for one, other in pairwise(samples))
        level = sum(map(abs, samples)) / max(1, len(samples))
        before, level_before = self._last
        self._last = (crossings, level)
        return (
            level >= _AUDIBLE
            and crossings in _CROSSINGS
            and abs(crossings - before) <= _SAME_CROSSINGS
            and level_before / _SAME_LEVEL <= level <= level_before * _SAME_LEVEL
        )

    @property
    def is_greeted(self) -> bool:
        """Whether a voice, and no tone or noise alone, is greeting at the moment."""
        return self._voice >= _GREETING_FRAMES and self._since_voice < _PAUSE_FRAMES

    @property
    def is_machine(self) -> bool:
        """Whether a machine has answered."""
        return self._talks_long or self._has_beeped

    @property
    def is_over(self) -> bool:
        """Whether its greeting is over: it records from now on."""
        return self._has_beeped or self._silent >= _SILENT_FRAMES
