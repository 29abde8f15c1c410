"""The jitter buffer: packets in as they come, audio out at an even pace."""

from typing import NamedTuple

# Packets are held back so long that those which overtook them can be put behind them again.
START_PACKETS = 3
# Beyond that the other side sends faster than time passes: the oldest are dropped.
PACKETS_MAX = 12
# A larger jump is a new stream, not a loss.
_JUMP_MAX = 200
_SEQUENCES = 0x10000


class PacketCounts(NamedTuple):
    """The packets by their fate."""

    played: int = 0
    # Missing when their turn came.
    lost: int = 0
    # Came after their turn, or twice.
    late: int = 0
    # Came when there were too many already.
    dropped: int = 0


class JitterBuffer:
    """Puts audio in order; `None` marks a packet that takes a turn and carries no audio."""

    def __init__(self) -> None:
        self._waiting: dict[int, bytes | None] = {}
        self._next = 0
        self._has_begun = False
        self._is_filling = True
        self._played = self._lost = self._late = self._dropped = 0

    @property
    def counts(self) -> PacketCounts:
        """The packets until now, by their fate."""
        return PacketCounts(self._played, self._lost, self._late, self._dropped)

    def put(self, sequence: int, audio: bytes | None) -> None:
        """Take a packet that arrived."""
        if not self._has_begun:
            self._next, self._has_begun = sequence, True
        ahead = _distance(self._next, sequence)
        if abs(ahead) > _JUMP_MAX:
            self._restart(sequence)
        elif ahead < 0 and self._is_filling and not self._played:
            # The very first packet was overtaken.
            self._next = sequence
        elif ahead < 0 or sequence in self._waiting:
            self._late += 1
            return
        self._waiting[sequence] = audio
        if len(self._waiting) > PACKETS_MAX:
            self._drop_oldest()

    def _restart(self, sequence: int) -> None:
        self._dropped += len(self._waiting)
        self._waiting.clear()
        self._next, self._is_filling = sequence, True

    def _drop_oldest(self) -> None:
        while len(self._waiting) > START_PACKETS:
            if self._next in self._waiting:
                del self._waiting[self._next]
                self._dropped += 1
            else:
                self._lost += 1
            self._next = (self._next + 1) % _SEQUENCES

    def take(self) -> bytes | None:
        """The audio whose turn it is; None when there is none."""
        if not self._waiting:
            self._is_filling = True
            return None
        if self._is_filling and len(self._waiting) < START_PACKETS:
            return None
        self._is_filling = False
        turn, self._next = self._next, (self._next + 1) % _SEQUENCES
        if turn not in self._waiting:
            self._lost += 1
            return None
        self._played += 1
        return self._waiting.pop(turn)


def _distance(start: int, end: int) -> int:
    """How far ahead a sequence number is, the shorter way around."""
    ahead = (end - start) % _SEQUENCES
    return ahead - _SEQUENCES if ahead >= _SEQUENCES // 2 else ahead
