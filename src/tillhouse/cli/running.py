"""How a command runs: on its installation, with services, inside one event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from tillhouse.access.process import Services
from tillhouse.cli import installation as grounds
from tillhouse.cli.output import stderr_console
from tillhouse.cli.servers import tell_database
from tillhouse.http import log as logs

T = TypeVar("T")


def run(work: Callable[[Services], Awaitable[T]], data: Path | None) -> T:
    """Do the work with services that are opened for it."""
    # Standard output is for the result alone.
    logs.set_up("warning")
    settings = grounds.settings_with(data=data)
    grounds.require_database(settings)
    with (
        stderr_console().status("Opening the database …") as status,
        grounds.running_database(settings) as installation,
    ):
        tell_database(installation)

        async def run_with_services() -> T:
            async with grounds.open_services(installation) as services:
                status.stop()
                return await work(services)

        return asyncio.run(run_with_services())
