"""How a command runs: on its ground, in a house, inside one event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from tillhouse.access.process import House
from tillhouse.cli import installation as grounds
from tillhouse.cli.output import people

T = TypeVar("T")


def run(work: Callable[[House], Awaitable[T]], data: Path | None) -> T:
    """Do the work in a house that is opened for it."""
    settings = grounds.settings_with(data=data)
    with people().status("Opening the database …") as status, grounds.standing(settings) as ground:

        async def at_home() -> T:
            async with grounds.keeping_house(ground) as house:
                status.stop()
                return await work(house)

        return asyncio.run(at_home())
