"""How long the line of a call waits; tests shorten it."""

from datetime import timedelta

import msgspec


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """The pauses and limits of a line."""

    # Twilio is asked so often how a call stands, whatever its callbacks tell.
    ask_every_s: float = 1.0
    # So often it is asked for a call whose answer was lost.
    looks: int = 10
    # The stream comes so long after the answer, or never.
    stream_within: timedelta = timedelta(seconds=10)
    # An end that Twilio doesn't confirm for so long is taken for one.
    gives_up: timedelta = timedelta(seconds=20)


REAL = Timing()
