"""The real clock of the dispatcher; tests give it a virtual one."""

import asyncio
from datetime import datetime, timedelta

from tillhouse.kit import clock


class RealClock:
    """Time as it passes."""

    def now(self) -> datetime:
        """This moment."""
        return clock.now()

    async def sleep(self, seconds: float) -> None:
        """Return after so long."""
        await asyncio.sleep(seconds)


class HurriedClock:
    """Time that has passed as soon as somebody waits for it: for a single call."""

    def __init__(self, begins: datetime) -> None:
        self._now = begins

    def now(self) -> datetime:
        """This moment."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Let the time be over."""
        self._now += timedelta(seconds=seconds)
        await asyncio.sleep(0)
