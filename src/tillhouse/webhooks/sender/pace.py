"""How far apart attempts begin: not at all, or with room between them for who asks the API.

A process that answers and sends has one loop for both. A burst of attempts, begun at once, keeps
it for as long as all of them take to be signed and written, and whoever asks waits behind.
"""

import asyncio

from tillhouse.db.pool import Pool

# So many statements a second are the process's own chores; more of them come from requests.
OF_ITS_OWN_PER_S = 20.0
LOOK_EVERY_S = 0.25
# Claims at once: enough to spare statements, few enough to start soon.
CLAIM_MAX = 200
# Beside requests: how many attempts begin in a second, one after the other; how much lateness is
# made up for; and how many are claimed at once, since all of these begin before the next look.
BESIDE_PER_S = 1200.0
LATE_S_MAX = 0.02
# A request that holds a connection goes first: an attempt waits so long for it, so many times.
GIVES_WAY_S = 0.001
GIVES_WAY = 8
CLAIM_BESIDE_MAX = 24


class Pace:
    """Watches the pool of the requests beside which attempts are made, if there is one."""

    def __init__(self, front: Pool | None) -> None:
        self._front = front
        self._statements = front.statements if front else 0
        self._looked_s = 0.0
        self._is_asked = False
        self._next_s = 0.0

    def most(self, now_s: float) -> int:
        """How many to claim at once."""
        return CLAIM_BESIDE_MAX if self._is_beside(now_s) else CLAIM_MAX

    def wait_s(self, now_s: float) -> float | None:
        """An attempt begins: how long to wait before that of the next, None for not at all.

        When behind schedule, yield once without sleeping.
        """
        if not self._is_beside(now_s):
            return None
        self._next_s = max(self._next_s, now_s - LATE_S_MAX) + 1 / BESIDE_PER_S
        return max(0.0, self._next_s - now_s)

    async def give_way(self) -> None:
        """Let a request that is under way go first, for a few rounds."""
        for _ in range(GIVES_WAY):
            if self._front is None or not self._front.usage()[0]:
                return
            await asyncio.sleep(GIVES_WAY_S)

    def _is_beside(self, now_s: float) -> bool:
        """Whether requests are answered here lately."""
        if self._front is not None and now_s - self._looked_s >= LOOK_EVERY_S:
            sent = self._front.statements - self._statements
            self._is_asked = sent > OF_ITS_OWN_PER_S * (now_s - self._looked_s)
            self._statements += sent
            self._looked_s = now_s
        return self._is_asked
