"""How soon the next claim follows, and how many attempts it may begin."""

# Claims so far apart carry more each; the first after a rest begins at once.
APART_S = 0.02
# Claims at once: enough to spare statements, few enough to start soon.
CLAIM_MAX = 200
# So much of a rate is made up for after a rest or a delay.
SAVED_S = 0.05


class Pace:
    """At most so many attempts a second, evenly; 0 for as many as there are slots."""

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._saved = 0.0
        self._claimed_s = self._seen_s = float("-inf")

    def wait_s(self, now_s: float) -> float:
        """How long the next claim waits."""
        wait_s = self._claimed_s + APART_S - now_s
        if self._per_second:
            missing = 1 - self._gathered(now_s)
            wait_s = max(wait_s, missing / self._per_second)
        return max(0.0, wait_s)

    def most(self, now_s: float) -> int:
        """How many attempts may begin now."""
        return min(CLAIM_MAX, int(self._gathered(now_s))) if self._per_second else CLAIM_MAX

    def note(self, now_s: float, claimed: int) -> None:
        """So many began."""
        self._claimed_s = now_s
        if self._per_second:
            self._saved = self._gathered(now_s) - claimed
            self._seen_s = now_s

    def _gathered(self, now_s: float) -> float:
        """The attempts that the rate has room for."""
        most = max(1.0, SAVED_S * self._per_second)
        if self._seen_s == float("-inf"):
            return most
        return min(most, self._saved + (now_s - self._seen_s) * self._per_second)
