"""Words and keys that answer no question: understood beside the conversation, for the transcript.

The agent doesn't wait for them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

import msgspec

from tillhouse.providers.telephony.provider import PartyReply
from tillhouse.voice.conversation.script_rules import OPT_OUT
from tillhouse.voice.speech.protocols import HeardWords
from tillhouse.voice.speech.turn_rules import PlaybackMoment

# So many segments of a call are understood; further ones are left out.
_SEGMENTS_MAX = 60


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """A key or an utterance: when it was made, and the moment of the conversation."""

    moment: PlaybackMoment
    began: datetime
    ended: datetime
    key: str | None = None
    sound: bytes = b""


class Overhearing:
    """Understands segments one after the other."""

    def __init__(
        self, hear: Callable[[bytes, tuple[str, ...]], Awaitable[HeardWords | None]]
    ) -> None:
        self._hear = hear
        self._turn = asyncio.Lock()
        self._taken = 0
        self._found: list[PartyReply] = []
        self._under_way: set[asyncio.Task[None]] = set()

    def take(self, segment: Segment) -> None:
        """Add one."""
        if self._taken >= _SEGMENTS_MAX:
            return
        self._taken += 1
        task = asyncio.ensure_future(self._understand(segment))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _understand(self, segment: Segment) -> None:
        if segment.key is not None:
            self._add(segment, segment.key, None)
            return
        async with self._turn:
            words = await self._hear(segment.sound, OPT_OUT)
        if words is not None:
            self._add(segment, words.text, words.confidence)

    def _add(self, segment: Segment, text: str, confidence: float | None) -> None:
        self._found.append(
            PartyReply(
                kind="text" if segment.key is None else "digits",
                text=text,
                started_at=segment.began,
                ended_at=segment.ended,
                confidence=confidence,
                is_early=True,
            )
        )

    async def found(self, within: timedelta) -> Sequence[PartyReply]:
        """Everything that was understood since, and within so long."""
        if self._under_way:
            await asyncio.wait(set(self._under_way), timeout=within.total_seconds())
        found, self._found = self._found, []
        return found

    def close(self) -> None:
        """Understand no more."""
        for task in self._under_way:
            task.cancel()
