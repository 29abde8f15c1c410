"""The timers of a user agent (RFC 3261, section 17) and of its calls; tests shorten them."""

import msgspec


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """All in seconds."""

    # The time there and back; the longest pause between repetitions; the life of a packet.
    t1: float = 0.5
    t2: float = 4.0
    t4: float = 5.0
    # Without RTP for so long a call is over, unless it is held.
    media_lost: float = 20.0

    @property
    def transaction(self) -> float:
        """Timers B, D, F, H, L and M: for so long a transaction lasts."""
        return 64 * self.t1


REAL = Timing()
