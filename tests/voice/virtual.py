"""Dispatchers in virtual time: a clock that stands until nobody has anything left to do."""

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from tests.waiting import within
from tillhouse.access.process import Services
from tillhouse.providers.telephony.provider import Telephone
from tillhouse.providers.telephony.simulator.telephone import Simulator
from tillhouse.voice.dispatching.dispatcher import AT_ONCE, RECONCILE_EVERY_S, Dispatcher

_WATCHES_APART = timedelta(seconds=1)
_RECONCILES_APART = timedelta(seconds=RECONCILE_EVERY_S)
_CLAIMS_APART = timedelta(milliseconds=200)
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


async def _tell_nobody(_at: datetime) -> None:
    """Nobody wants to know how far it is."""


class VirtualClock:
    """A clock that stands still until it is told to go on.

    With a `tick`, all that is to happen within it happens at its end, in the same moment.
    """

    def __init__(self, begins: datetime, tick: timedelta = timedelta()) -> None:
        self._now = begins
        self._tick = tick
        self._sleeping: list[tuple[datetime, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> datetime:
        """This moment."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Return once the clock has gone on so far."""
        woken = asyncio.get_running_loop().create_future()
        self._count += 1
        at = self._now + timedelta(seconds=max(0.0, seconds))
        if self._tick:
            at += -(at - _EPOCH) % self._tick
        heapq.heappush(self._sleeping, (at, self._count, woken))
        await woken

    @property
    def sleeping(self) -> int:
        """How many wait."""
        return len(self._sleeping)

    @property
    def wakes_at(self) -> datetime | None:
        """When the first one is woken."""
        return self._sleeping[0][0] if self._sleeping else None

    def go_on(self, at: datetime) -> None:
        """Go to a moment, and wake those who wait for it."""
        self._now = max(self._now, at)
        while self._sleeping and self._sleeping[0][0] <= at:
            woken = heapq.heappop(self._sleeping)[2]
            if not woken.done():
                woken.set_result(None)


class Network:
    """Dispatchers on a virtual clock, which share one queue."""

    def __init__(
        self,
        services: Services,
        clock: VirtualClock,
        telephone: Telephone | None = None,
        *,
        dispatchers: int = 1,
        at_once: int = AT_ONCE,
    ) -> None:
        self._services = services
        self.clock = clock
        self._dispatchers = [
            Dispatcher(services, {"simulator": telephone or Simulator()}, clock, at_once=at_once)
            for _ in range(dispatchers)
        ]

    @property
    def calls(self) -> int:
        """How many are under way."""
        return sum(one.calls for one in self._dispatchers)

    async def run(self, tell: Callable[[datetime], Awaitable[None]] = _tell_nobody) -> None:
        """Let time pass until every call has ended."""
        claims_at = watches_at = reconciles_at = self.clock.now()
        calls = 0
        while True:
            # Calls that this moment woke go to their next rest before anybody looks at them.
            await self._settle()
            at = self.clock.now()
            if at >= claims_at or self.calls < calls:
                claims_at = at + await self._claim()
                await tell(at)
            if at >= watches_at:
                await asyncio.gather(*(one.watch() for one in self._dispatchers))
                watches_at = at + _WATCHES_APART
            if at >= reconciles_at:
                await self._reconcile()
                reconciles_at = at + _RECONCILES_APART
            calls = self.calls
            await self._settle()
            wakes_at = self.clock.wakes_at
            if wakes_at is None:
                wakes_at = await self._next_due(at)
                claims_at = watches_at = reconciles_at = wakes_at or at
            if wakes_at is None:
                return
            self.clock.go_on(wakes_at)

    async def _claim(self) -> timedelta:
        """Begin what is due; how long nothing else is."""
        while any(await asyncio.gather(*(one.claim() for one in self._dispatchers))):
            pass
        return max(_CLAIMS_APART, timedelta(seconds=min(one.rest_s for one in self._dispatchers)))

    async def _reconcile(self) -> None:
        while any(await asyncio.gather(*(one.reconcile() for one in self._dispatchers))):
            pass

    async def _settle(self) -> None:
        """Wait until each call sleeps, or has ended."""
        async with within():
            while self.calls > self.clock.sleeping:  # noqa: ASYNC110 - they wait for a server
                await asyncio.sleep(0.0002)

    async def _next_due(self, at: datetime) -> datetime | None:
        """The moment at which the next call is due while none is under way; None: none is left."""
        async with self._services.pool.reading() as db:
            due_at = await db.fetchval(
                """
                SELECT min(at) FROM (
                    SELECT least(greatest(c.due_at, n.next_dial_at), c.expires_at) AS at
                    FROM voice_calls c
                    JOIN voice_numbers n ON n.book_id = c.book_id AND n.id = c.number_id
                    WHERE c.status = 'queued' AND n.status = 'active'
                    UNION ALL
                    SELECT lease_until FROM voice_calls WHERE lease_until IS NOT NULL
                ) moments
                """
            )
        return due_at and max(due_at, at + _CLAIMS_APART)
