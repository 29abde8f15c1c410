"""How full one book is while a command records many orders, faster than chores count them."""

from uuid import UUID

from tillhouse.access.process import Services
from tillhouse.access.usage import MIB
from tillhouse.kit.ids import BookId
from tillhouse.orders.storage.quota import ORDERS
from tillhouse.orders.storage.store import CountedOrders, find_counted, find_uncounted

_ROWS = 5000


class Filling:
    """The orders of one book, counted up to those of the moment."""

    def __init__(self, services: Services, book_id: BookId) -> None:
        self.limits = ORDERS.limits(services.settings)
        self.orders = 0
        self._bytes = 0
        self._pool = services.pool
        self._book_id = book_id
        # The last order that was counted; None: not even those that the chore has counted.
        self._counted_to: UUID | None = None

    async def count(self) -> None:
        """Count the new orders; none where there is no limit."""
        if not self.limits.are_set:
            return
        async with self._pool.reading() as db:
            if self._counted_to is None and (row := await find_counted(db, self._book_id)):
                self._add(row)
            while row := await find_uncounted(db, self._book_id, self._counted_to, _ROWS):
                self._add(row)

    def setting_without_room(self, wanted: int = 1) -> str | None:
        """The setting that leaves no room for so many more."""
        if 0 < self.limits.rows < self.orders + wanted:
            return f"TILLHOUSE_{ORDERS.rows_setting}"
        if 0 < self.limits.bytes <= self._bytes:
            return f"TILLHOUSE_{ORDERS.mib_setting}"
        return None

    def told(self) -> str:
        """Report how much the book holds, and its limit."""
        rows, size = self.limits.rows, self.limits.bytes
        parts = [f"{self.orders} of {rows} orders"] if rows else []
        parts += [f"{self._bytes / MIB:.1f} of {size // MIB} MiB"] if size else []
        return " and ".join(parts)

    def _add(self, row: CountedOrders) -> None:
        self.orders += row.orders
        self._bytes += row.bytes
        self._counted_to = row.counted_to
