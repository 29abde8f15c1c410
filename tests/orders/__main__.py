"""Counts the files that a reader meets who follows an order: `python -m tests.orders`.

Each request is asked several times under a trace, and a file counts that all of them enter: what
works in the background meanwhile enters a few.
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType
from typing import Any

import asyncpg
from rich.console import Console

import tillhouse
from tests.conftest import SETTINGS, running
from tests.make import Make
from tests.orders.shop import ORDERS, Shop, line
from tillhouse.access.vault import new_master_key
from tillhouse.db.embedded import Embedded
from tillhouse.db.migrate import migrate

PACKAGE = str(Path(tillhouse.__file__).parent) + "/"
TIMES = 8

Ask = Callable[[], Awaitable[Any]]


async def entered(ask: Ask) -> set[str]:
    """The files of the product whose functions are called from each request to its answer."""
    return set.intersection(*[await _entered_once(ask) for _ in range(TIMES)])


async def _entered_once(ask: Ask) -> set[str]:
    found: set[str] = set()

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        await ask()
    finally:
        sys.setprofile(None)
    return {name.removeprefix(PACKAGE) for name in found if name.startswith(PACKAGE)}


async def follow(url: str) -> dict[str, set[str]]:
    """The files by request."""
    sql = await asyncpg.connect(url)
    await migrate(sql)
    async with running(SETTINGS, url, new_master_key()) as app:
        shop = await Shop.open(Make(app, app.services), sql)
        product = await shop.product()

        async def cancel() -> None:
            await shop.to(await shop.sell(line(product)), "cancelled")

        recorded = await entered(lambda: shop.sell(line(product)))
        listed = await entered(lambda: shop.api.get(ORDERS))
        # Cancelling records one first: the files of that alone are in its own count.
        cancelled = await entered(cancel)
    await sql.close()
    return {"record": recorded, "list": listed, "record and cancel": cancelled}


def main() -> None:
    """Print the files and how many they are."""
    with tempfile.TemporaryDirectory() as folder:
        server = Embedded.start(Path(folder))
        try:
            found = asyncio.run(follow(server.url))
        finally:
            server.release()
    console = Console()
    for request, files in found.items():
        console.print(f"{request}: {len(files)} files\n  {' '.join(sorted(files))}")


if __name__ == "__main__":
    main()
