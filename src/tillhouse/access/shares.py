"""The shares of one process: how much of it one business, key or network may have at once."""

from contextlib import AbstractAsyncContextManager

from tillhouse.access.callers import KeyCaller, UserCaller
from tillhouse.access.fair_gate import Activity, FairGate, Name
from tillhouse.access.quota import Held, Quota

MIB = 1024 * 1024
# Of a pool of the usual size.
READERS = 6
# A business whose reads take longer on average, beside others, has fewer of them at once.
LIGHT_READ_S = 0.05
# A body of so many bytes takes one turn more: an order of 100 lines as much as several of some.
BODY_BYTES_OF_TURN = 4096
STREAMS_MAX, STREAMS_OF_BUSINESS_MAX, STREAMS_OF_CALLER_MAX = 500, 60, 20
BODIES_MIB_MAX, BODIES_OF_OWNER_MIB_MAX = 128, 32


class Shares:
    """The gates and quotas of one process."""

    def __init__(self, readers: int = READERS) -> None:
        activity = Activity()
        # A read takes a connection: one is left for the checks of keys, which come before turns.
        total = max(1, readers - 1)
        self.reads = FairGate(
            total=total,
            each=min(total, 4),
            kept=1,
            light_s=LIGHT_READ_S,
            waiting_max=256,
            activity=activity,
        )
        # Statements that write are batched: alone, a business may have most of a process.
        # Beside others it has enough for some that wait for a lock, and for the rest.
        self.writes = FairGate(total=64, each=8, waiting_max=256, activity=activity)
        # Receipts and the hooks of providers, by their addresses.
        self.anonymous = FairGate(total=32, each=4, waiting_max=64)
        # A file takes a fifth of a second of a single thread.
        self.files = FairGate(total=1, each=1, waiting_max=16)
        self.bodies = Quota(
            BODIES_MIB_MAX * MIB,
            BODIES_OF_OWNER_MIB_MAX * MIB,
            f"Bodies of {BODIES_OF_OWNER_MIB_MAX} MiB are under way: send fewer at the same time.",
        )
        self._streams_of_callers = Quota(
            STREAMS_MAX, STREAMS_OF_CALLER_MAX, _too_many_streams("caller", STREAMS_OF_CALLER_MAX)
        )
        self._streams_of_businesses = Quota(
            STREAMS_MAX,
            STREAMS_OF_BUSINESS_MAX,
            _too_many_streams("business", STREAMS_OF_BUSINESS_MAX),
        )

    def turn(self, owner: Name, size: int, *, is_read: bool) -> AbstractAsyncContextManager[None]:
        """The turn of a request with a body of so many bytes."""
        if is_read:
            return self.reads.turn(owner)
        return self.writes.turn(owner, 1 + size // BODY_BYTES_OF_TURN)

    def hold_stream(self, caller: KeyCaller | UserCaller) -> list[Held]:
        """One more stream of a caller and its business, or a refusal."""
        caller_id = caller.key_id if isinstance(caller, KeyCaller) else caller.session_id
        own = self._streams_of_callers.hold(caller_id, 1)
        try:
            return [own, self._streams_of_businesses.hold(caller.business_id, 1)]
        except BaseException:
            own.release()
            raise


def _too_many_streams(whose: str, most: int) -> str:
    return f"This {whose} has {most} streams open: close one, or follow several events in one."
