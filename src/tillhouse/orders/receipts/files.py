"""Keeps the files of receipts; they are printed one at a time, by turns of businesses."""

from collections import OrderedDict
from uuid import UUID

from tillhouse.access.fair_gate import FairGate
from tillhouse.kit.errors import Unavailable
from tillhouse.orders.receipts.page import Paper
from tillhouse.orders.receipts.printer import Printer, ToPrint

# A file is some 20 KB: those that are kept are a few megabytes.
_KEPT_MAX = 128


class ReceiptFiles:
    """The files of receipts, as they are asked for."""

    def __init__(self) -> None:
        # In a process of its own: a thread would take half of the event loop's time.
        self._printer = Printer()
        self._kept: OrderedDict[tuple[UUID, Paper], bytes] = OrderedDict()

    async def file(self, gate: FairGate, receipt: ToPrint) -> bytes:
        """The file of a receipt; a receipt never changes, so neither does its file."""
        key = (receipt.id, receipt.paper)
        if key not in self._kept:
            async with gate.turn(receipt.business_id):
                # An earlier request may have made the same file by now.
                if key not in self._kept:
                    self._keep(key, await self._print(receipt))
        self._kept.move_to_end(key)
        return self._kept[key]

    def _keep(self, key: tuple[UUID, Paper], made: bytes) -> None:
        self._kept[key] = made
        while len(self._kept) > _KEPT_MAX:
            self._kept.popitem(last=False)

    async def _print(self, receipt: ToPrint) -> bytes:
        try:
            return await self._printer.make(receipt)
        except (EOFError, OSError) as error:
            # The process died; the next file starts another.
            raise Unavailable from error
