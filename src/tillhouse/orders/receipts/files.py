"""Prints receipts: off the event loop, one at a time, each only once while it is asked for."""

import asyncio
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from uuid import UUID

from tillhouse.kit.errors import Unavailable
from tillhouse.orders.receipts.page import Paper
from tillhouse.orders.receipts.rules import Sheet

# A file is some 20 KB: what is kept is a few megabytes.
_KEPT_MAX = 128
# Waiting room: a file takes a fifth of a second, so nobody waits for longer than some.
_WAITING_MAX = 32


class ReceiptFiles:
    """Makes the files of receipts."""

    def __init__(self) -> None:
        # One thread: files take turns, and requests in between keep their half of the time.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="receipts")
        self._kept: OrderedDict[tuple[UUID, Paper], bytes] = OrderedDict()
        self._waiting = 0

    async def file(self, receipt_id: UUID, sheet: Sheet, paper: Paper, made_at: datetime) -> bytes:
        """The file of a receipt; a receipt never changes, so neither does its file."""
        key = (receipt_id, paper)
        if key not in self._kept:
            if self._waiting >= _WAITING_MAX:
                raise Unavailable(retry_after_s=5)
            self._waiting += 1
            try:
                loop = asyncio.get_running_loop()
                made = await loop.run_in_executor(self._thread, self._make, key, sheet, made_at)
            finally:
                self._waiting -= 1
            self._kept[key] = made
        self._kept.move_to_end(key)
        while len(self._kept) > _KEPT_MAX:
            self._kept.popitem(last=False)
        return self._kept[key]

    def _make(self, key: tuple[UUID, Paper], sheet: Sheet, made_at: datetime) -> bytes:
        # An earlier request may have made the same file by now.
        if (made := self._kept.get(key)) is not None:
            return made
        # Half a second to load, which nobody pays who prints nothing.
        from tillhouse.orders.receipts import pdf  # noqa: PLC0415

        with pdf.unpacked_fonts() as fonts:
            return pdf.print_sheet(sheet, key[1], made_at, fonts)
