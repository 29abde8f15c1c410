"""Bounds on work that can't wait: bytes of bodies under way, open streams."""

from typing import Self

from tillhouse.access.fair_gate import Name
from tillhouse.kit.errors import Limited, Unavailable


class Quota:
    """`each` for one owner, `total` for all of them; more is refused."""

    def __init__(self, total: int, each: int, message: str) -> None:
        self._total = total
        self._each = each
        self._message = message
        self._held: dict[Name, int] = {}
        self._sum = 0

    def hold(self, owner: Name, amount: int = 0) -> "QuotaShare":
        """Begin to hold something for an owner."""
        held = QuotaShare(self, owner)
        held.take(amount)
        return held

    def check(self, owner: Name) -> None:
        """Refuse an owner who holds all that it may."""
        if self._held.get(owner, 0) >= self._each:
            raise Limited(1, self._message)
        if self._sum >= self._total:
            raise Unavailable(retry_after_s=1)

    def take(self, owner: Name, amount: int) -> None:
        """Take more for an owner, or refuse."""
        more = self._held.get(owner, 0) + amount
        if more > self._each:
            raise Limited(1, self._message)
        if self._sum + amount > self._total:
            raise Unavailable
        self.note(owner, amount)

    def note(self, owner: Name, amount: int) -> None:
        """Take more that is there already, however much it is."""
        self._held[owner] = self._held.get(owner, 0) + amount
        self._sum += amount

    def give_back(self, owner: Name, amount: int) -> None:
        """Return the taken amount."""
        self._sum -= amount
        left = self._held.get(owner, 0) - amount
        if left:
            self._held[owner] = left
        else:
            self._held.pop(owner, None)


class QuotaShare:
    """The part of a quota that one request holds."""

    __slots__ = ("_amount", "_owner", "_quota")

    def __init__(self, quota: Quota, owner: Name) -> None:
        self._quota = quota
        self._owner = owner
        self._amount = 0

    def take(self, amount: int) -> None:
        """Take more, or be refused."""
        if amount:
            self._quota.take(self._owner, amount)
            self._amount += amount

    def note(self, amount: int) -> None:
        """Take more that is there already."""
        self._quota.note(self._owner, amount)
        self._amount += amount

    def __enter__(self) -> Self:
        """Hold until the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give all of it back."""
        self.release()

    def release(self) -> None:
        """Give all of it back."""
        if self._amount:
            self._quota.give_back(self._owner, self._amount)
            self._amount = 0
