"""A dispatcher in virtual time, to be killed; it notes each dial before its line begins.

`python -m tests.voice.processes DATABASE_URL MASTER_KEY FOLDER` makes every call that is due.
"""

import asyncio
import os
import sys
from pathlib import Path

import msgspec

from tests.conftest import SETTINGS
from tests.voice.virtual import Network, VirtualClock
from tillhouse.access.process import close_services, connect_services
from tillhouse.app import PRODUCT
from tillhouse.kit.clock import now
from tillhouse.providers.telephony.provider import Dial
from tillhouse.providers.telephony.simulator.telephone import SimulatedLine, Simulator

DIALLED = "dialled"


class NotingTelephone(Simulator):
    """A simulator that says whom it called, even if it is killed at once."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._file = os.open(folder / DIALLED, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def dial(self, dial: Dial) -> SimulatedLine:
        """Note it first."""
        os.write(self._file, f"{dial.attempt_id} {dial.to}\n".encode())
        return await super().dial(dial)


async def main(database_url: str, master_key: str, folder: str) -> None:
    """Make all calls."""
    settings = msgspec.structs.replace(SETTINGS, data=Path(folder), pool_size=4)
    services = await connect_services(settings, lambda: PRODUCT.declared, database_url, master_key)
    await Network(services, VirtualClock(now()), NotingTelephone(Path(folder))).run()
    await close_services(services)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
