"""The process that prints receipts: it is given their content, and knows no database.

It reads requests from its standard input and ends with it, however the server ends.
"""

import asyncio
import os
import signal
import struct
import sys
from datetime import datetime
from typing import BinaryIO
from uuid import UUID

import msgspec

from tillhouse.kit.ids import BusinessId
from tillhouse.orders.receipts.page import Paper
from tillhouse.orders.receipts.rules import Sheet

# Requests go first on a machine that has no core to spare.
_NICENESS = 10
_LENGTH = struct.Struct(">I")


class ToPrint(msgspec.Struct, frozen=True, kw_only=True):
    """A receipt whose file is asked for."""

    id: UUID
    business_id: BusinessId
    sheet: Sheet
    paper: Paper
    made_at: datetime


class Printed(msgspec.Struct, frozen=True):
    """A file, or the error for which there is none."""

    file: bytes = b""
    error: str = ""


class Printer:
    """The process, as the server sees it: started with its first file, and again if it dies."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def make(self, receipt: ToPrint) -> bytes:
        """The bytes of a file; one after the other."""
        process = self._process
        if process is None or process.returncode is not None:
            process = self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tillhouse.orders.receipts.printer",
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            )  # fmt: skip
        try:
            return await _exchange(process, receipt)
        except BaseException:
            # Its answer would be taken for that of the next request.
            self._process = None
            if process.returncode is None:
                process.kill()
            raise


async def _exchange(process: asyncio.subprocess.Process, receipt: ToPrint) -> bytes:
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise RuntimeError("started with both")
    request = msgspec.msgpack.encode(receipt)
    stdin.write(_LENGTH.pack(len(request)) + request)
    await stdin.drain()
    (length,) = _LENGTH.unpack(await stdout.readexactly(_LENGTH.size))
    printed = msgspec.msgpack.decode(await stdout.readexactly(length), type=Printed)
    if printed.error:
        raise RuntimeError(f"a receipt was not printed: {printed.error}")
    return printed.file


def main() -> None:
    """Print until the standard input ends; Ctrl-C is for the server."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICENESS)
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    while head := stdin.read(_LENGTH.size):
        answer = msgspec.msgpack.encode(_print(stdin, *_LENGTH.unpack(head)))
        stdout.write(_LENGTH.pack(len(answer)) + answer)
        stdout.flush()


def _print(stdin: BinaryIO, length: int) -> Printed:
    receipt = msgspec.msgpack.decode(stdin.read(length), type=ToPrint)
    # Half a second to load: only this process has to.
    from tillhouse.orders.receipts import pdf  # noqa: PLC0415

    try:
        with pdf.unpacked_fonts() as fonts:
            return Printed(pdf.print_sheet(receipt.sheet, receipt.paper, receipt.made_at, fonts))
    except Exception as error:  # noqa: BLE001 - the server logs it
        return Printed(error=repr(error))


if __name__ == "__main__":
    main()
