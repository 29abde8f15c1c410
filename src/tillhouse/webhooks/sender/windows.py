"""How many attempts each endpoint may have under way in this worker: more as it proves itself.

A worker may have so many attempts under way. One that hangs occupies its slot for ten seconds, so
endpoints that may hang get a share of the slots and no more; the rest is for endpoints whose last
attempt was a success and which answer soon.
"""

import msgspec

from tillhouse.kit.ids import EndpointId
from tillhouse.webhooks.store.queue import FreeSlots

WINDOW_FIRST = 2
WINDOW_MAX = 128
REMEMBERED_S = 10.0
# A receiver that hasn't answered after this long may be hanging.
SLOW_S = 1.0
# Of all slots: the part for endpoints that have not proven themselves, the part of that for
# probes of failing ones, and the part kept from those that have much under way already.
UNPROVEN_SHARE = 2
PROBES_SHARE = 4
SHALLOW_SHARE = 4


class EndpointState(msgspec.Struct):
    """One endpoint as this worker sees it."""

    # Attempts under way, the oldest first: ticket → when it began.
    began_s: dict[int, float] = {}
    window: int = WINDOW_FIRST
    ended_s: float = 0.0
    is_unproven: bool = True
    is_probed: bool = False

    def is_doubted(self, now_s: float) -> bool:
        """Whether its attempts may hang: nothing speaks for it, or one of them seems to."""
        oldest_s = next(iter(self.began_s.values()), now_s)
        return self.is_unproven or now_s - oldest_s > SLOW_S


class EndpointWindows:
    """Grows an endpoint's window with each success, halves it with each failure."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._windows: dict[EndpointId, EndpointState] = {}
        self._under_way = 0
        self._tickets = 0

    def begin(
        self, endpoint_id: EndpointId, now_s: float, *, is_unproven: bool, is_probe: bool
    ) -> int:
        """An attempt starts; its ticket."""
        self._tickets += 1
        self._under_way += 1
        state = self._windows.setdefault(endpoint_id, EndpointState())
        state.began_s[self._tickets] = now_s
        state.is_unproven = is_unproven
        state.is_probed = is_probe
        return self._tickets

    def end(self, endpoint_id: EndpointId, ticket: int, now_s: float, *, is_success: bool) -> None:
        """An attempt ended."""
        self._under_way -= 1
        state = self._windows[endpoint_id]
        del state.began_s[ticket]
        state.window = (
            min(WINDOW_MAX, state.window + 1) if is_success else max(1, state.window // 2)
        )
        state.ended_s = now_s
        state.is_unproven = not is_success

    def known(self, now_s: float) -> dict[EndpointId, tuple[int, int, bool]]:
        """(under way, window, whether doubted) of every endpoint that was busy a moment ago."""
        self._forget(now_s)
        return {
            endpoint_id: (len(state.began_s), state.window, state.is_doubted(now_s))
            for endpoint_id, state in self._windows.items()
        }

    def free_slots(self, now_s: float, most: int) -> FreeSlots:
        """How many attempts may begin, `most` at once."""
        unproven = probes = 0
        for state in self._windows.values():
            if state.is_doubted(now_s):
                unproven += len(state.began_s)
            if state.is_probed:
                probes += len(state.began_s)
        left = self._slots - self._under_way
        free = min(left, most)
        for_unproven = max(0, min(free, self._slots // UNPROVEN_SHARE - unproven))
        return FreeSlots(
            free=free,
            deep=max(0, min(free, left - self._slots // SHALLOW_SHARE)),
            unproven=for_unproven,
            probes=max(0, min(for_unproven, self._slots // PROBES_SHARE - probes)),
        )

    def _forget(self, now_s: float) -> None:
        """An idle endpoint starts afresh: its earlier window says little."""
        at_rest = [
            endpoint_id
            for endpoint_id, state in self._windows.items()
            if not state.began_s and now_s - state.ended_s > REMEMBERED_S
        ]
        for endpoint_id in at_rest:
            del self._windows[endpoint_id]
