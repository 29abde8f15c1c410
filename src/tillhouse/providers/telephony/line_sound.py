"""The parts of a line that are the same at every telephone with sound."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from tillhouse.providers.telephony.provider import (
    AttemptRecorder,
    Audio,
    Digit,
    Happening,
    LineEnded,
    Party,
)

# Frames without a listener are dropped after ten seconds.
_HEARD_MAX = 500


class EndedLine:
    """A line that was over before anything was sent or asked."""

    party: Party | Audio | None = None

    def __init__(self, ended: LineEnded) -> None:
        self._ended = ended

    async def events(self) -> AsyncIterator[Happening]:
        """Its end."""
        yield self._ended

    async def hang_up(self) -> None:
        """It is over."""


async def until_end(happenings: asyncio.Queue[Happening]) -> AsyncIterator[Happening]:
    """Everything that happens on a line, the end last."""
    while True:
        happening = await happenings.get()
        yield happening
        if isinstance(happening, LineEnded):
            return


class HeardAudio:
    """The sound of a line as it is heard and recorded here; `_is_closed` ends it."""

    def __init__(self, recorder: AttemptRecorder | None) -> None:
        self._recorder = recorder
        self._heard: deque[bytes | Digit] = deque(maxlen=_HEARD_MAX)
        self._something_heard = asyncio.Event()
        self._is_closed = False

    async def heard(self) -> AsyncIterator[bytes | Digit]:
        """Frames and keys from now until the line is over."""
        self._heard.clear()
        while not self._is_closed or self._heard:
            if not self._heard:
                self._something_heard.clear()
                await self._something_heard.wait()
                continue
            yield self._heard.popleft()

    def _hear(self, heard: bytes | Digit) -> None:
        self._heard.append(heard)
        self._something_heard.set()

    def _record(self, said: bytes, customer: bytes) -> None:
        try:
            if self._recorder is not None:
                self._recorder.write(said, customer)
        except OSError:
            # The disk is full: people go on talking.
            self._recorder = None
