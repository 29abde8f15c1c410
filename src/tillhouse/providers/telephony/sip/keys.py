"""Keys of a telephone as RTP carries them (RFC 4733)."""

import struct

import msgspec

KEYS = "0123456789*#ABCD"
# Of a key that is sent: how long it is held, how loud it is, and how often its end is repeated.
PACKETS = 5
END_PACKETS = 3
_EVENT = struct.Struct("!BBH")
_END = 0x80
_VOLUME = 10
_STEP = 160
_TIMESTAMPS = 0x1_0000_0000


class KeyEvent(msgspec.Struct, frozen=True):
    """A key, how long it is held so far, and whether that is all."""

    key: str
    duration: int
    is_end: bool


def parse(payload: bytes) -> KeyEvent | None:
    """Read a payload; None when it is no key."""
    if len(payload) < _EVENT.size:
        return None
    number, flags, duration = _EVENT.unpack_from(payload)
    if number >= len(KEYS):
        return None
    return KeyEvent(KEYS[number], duration, bool(flags & _END))


class KeyReader:
    """Finds each key that is pressed in the packets that repeat it."""

    def __init__(self) -> None:
        self._key = ""
        self._at: int | None = None
        # A key that is held for long goes on at this moment, as an event of its own.
        self._goes_on_at: int | None = None

    def read(self, timestamp: int, payload: bytes) -> str | None:
        """The key, at the first packet that tells of it."""
        event = parse(payload)
        if event is None:
            return None
        is_same = timestamp == self._at and event.key == self._key
        goes_on = timestamp == self._goes_on_at and event.key == self._key
        # A packet from before the last key was overtaken by it.
        is_old = self._at is not None and (timestamp - self._at) % _TIMESTAMPS > _TIMESTAMPS // 2
        if is_old:
            return None
        self._key, self._at = event.key, timestamp
        self._goes_on_at = None if event.is_end else (timestamp + event.duration) % _TIMESTAMPS
        return None if is_same or goes_on else event.key


def payloads(key: str) -> list[bytes]:
    """The packets of a key that is pressed, 20 ms apart, all with its first timestamp."""
    number = KEYS.index(key)
    durations = [_STEP * (index + 1) for index in range(PACKETS)]
    held = [_EVENT.pack(number, _VOLUME, duration) for duration in durations]
    return held + [_EVENT.pack(number, _END | _VOLUME, durations[-1])] * END_PACKETS
