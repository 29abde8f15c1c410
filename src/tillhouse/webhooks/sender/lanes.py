"""How many attempts each endpoint may have under way in this worker: more as it proves itself."""

from uuid import UUID

import msgspec

WINDOW_FIRST = 2
WINDOW_MAX = 128
REMEMBERED_S = 10.0


class Lane(msgspec.Struct):
    """One endpoint as this worker sees it."""

    under_way: int = 0
    window: int = WINDOW_FIRST
    ended_s: float = 0.0


class Lanes:
    """Grows an endpoint's window with each success, halves it with each failure."""

    def __init__(self) -> None:
        self._lanes: dict[UUID, Lane] = {}

    def begin(self, endpoint_id: UUID) -> None:
        """An attempt starts."""
        self._lanes.setdefault(endpoint_id, Lane()).under_way += 1

    def end(self, endpoint_id: UUID, now_s: float, *, is_success: bool) -> None:
        """An attempt ended."""
        lane = self._lanes[endpoint_id]
        lane.under_way -= 1
        lane.window = min(WINDOW_MAX, lane.window + 1) if is_success else max(1, lane.window // 2)
        lane.ended_s = now_s

    def known(self, now_s: float) -> dict[UUID, tuple[int, int]]:
        """(under way, window) of every lane that was busy a moment ago."""
        self._forget(now_s)
        return {
            endpoint_id: (lane.under_way, lane.window) for endpoint_id, lane in self._lanes.items()
        }

    def _forget(self, now_s: float) -> None:
        """A lane at rest starts afresh: what it could bear a while ago says little."""
        at_rest = [
            endpoint_id
            for endpoint_id, lane in self._lanes.items()
            if not lane.under_way and now_s - lane.ended_s > REMEMBERED_S
        ]
        for endpoint_id in at_rest:
            del self._lanes[endpoint_id]
