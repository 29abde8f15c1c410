"""Cookies that were good a moment ago: whoever has one needn't queue among strangers."""

from collections import OrderedDict

from tillhouse.kit.secrets import digest

_MOST = 10_000
_KEY = b"cookies that were good a moment ago"


class RecentCookies:
    """The newest cookies of this process. It decides about queues alone, never about rights."""

    def __init__(self) -> None:
        # By digest: memory that is written to a disk tells no cookie.
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def knows(self, secret: str | None) -> bool:
        """Whether a cookie was good when it was seen last."""
        return secret is not None and digest(_KEY, secret) in self._known

    def note(self, secret: str, *, is_good: bool) -> None:
        """Remember a cookie, or forget it."""
        key = digest(_KEY, secret)
        self._known.pop(key, None)
        if is_good:
            self._known[key] = None
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
