"""The dispatcher: claims due calls, follows each, renews leases, and ends abandoned ones.

Any number of dispatchers on any machines share the queue. One that is killed loses no slot and
dials no call twice: its leases end within seconds, and another one finds out their fate.
"""

import asyncio
import contextlib
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from asyncpg import Record

from tillhouse.access.process import Services
from tillhouse.db.notifier import NotificationListener
from tillhouse.jobs.worker import Worker
from tillhouse.kit import clock
from tillhouse.kit.ids import BookId
from tillhouse.providers.telephony.provider import Clock, Counting, ProviderName, Telephone
from tillhouse.voice.dispatching.claiming import LEASE, Intent, claim_next
from tillhouse.voice.dispatching.handling import TROUBLE, Handling
from tillhouse.voice.dispatching.places import Places
from tillhouse.voice.dispatching.reconciling import end_expired, reconcile
from tillhouse.voice.dispatching.store import claiming as store
from tillhouse.voice.dispatching.store import leases
from tillhouse.voice.dispatching.talking import Means
from tillhouse.voice.hooks import store as hooks

# Calls of one process, which answers requests as well.
AT_ONCE = 50
# Notifications wake the dispatcher; lost ones wait so long.
POLL_S = 5.0
# A call that is due waits for a slot.
AGAIN_S = 0.5
# Then it is another number's turn.
_MOVES_IN_TURN = 10
WATCH_EVERY_S = 1.0
RENEW_EVERY = timedelta(seconds=5)
RECONCILE_EVERY_S = 5.0
# Calls that are cut off have so long to write their end.
DRAIN_S = 4.0

log = structlog.get_logger()


class Dispatcher:
    """Makes calls in this process until it is stopped."""

    def __init__(
        self,
        services: Services,
        telephones: Mapping[ProviderName, Telephone],
        clock: Clock,
        *,
        at_once: int = AT_ONCE,
    ) -> None:
        self.services = services
        self._telephones = telephones
        self._means = Means(services.settings)
        self._clock = clock
        self._places = Places(at_once)
        self._after = store.FIRST
        self._under_way: dict[asyncio.Task[None], Handling] = {}
        self._renewed_at = clock.now()
        self._claimed, self._watched = NotificationListener(), NotificationListener()
        # Until something is due of which no notification comes.
        self.rest_s = POLL_S
        self._workers = (
            Worker("voice calls", self.claim, poll_s=POLL_S, wait=self._rest),
            Worker("voice leases", self.watch, poll_s=WATCH_EVERY_S, wait=self._watched.wait),
            Worker("voice reconciling", self.reconcile, poll_s=RECONCILE_EVERY_S),
        )

    @property
    def calls(self) -> int:
        """How many calls are under way here."""
        return len(self._under_way)

    def counted(self) -> Mapping[str, int]:
        """Everything that its telephones count, by their providers."""
        return {
            f"{provider}.{name}": count
            for provider, telephone in self._telephones.items()
            if isinstance(telephone, Counting)
            for name, count in telephone.counted().items()
        }

    def start(self) -> None:
        """Begin."""
        for listener in (self._claimed, self._watched):
            self.services.pool.notifier.add_listener(listener)
        self.services.workers.show(*self._workers)
        for worker in self._workers:
            worker.start()

    async def drain(self) -> None:
        """Claim no more, and wait until the calls that are under way have ended by themselves."""
        await self._workers[0].stop()
        while self._under_way:
            await asyncio.wait(set(self._under_way))

    async def stop(self) -> None:
        """Claim no more, end the calls that are under way, and write their ends."""
        claiming, watching, reconciling = self._workers
        await asyncio.gather(claiming.stop(), reconciling.stop())
        for handling in list(self._under_way.values()):
            await handling.hang_up(is_interrupted=True)
        if self._under_way:
            await asyncio.wait(set(self._under_way), timeout=DRAIN_S)
        await watching.stop()
        for telephone in self._telephones.values():
            await telephone.close()
        self._means.close()

    async def _rest(self, timeout_s: float) -> None:
        await self._claimed.wait(min(timeout_s, self.rest_s))

    async def claim(self) -> bool:
        """Begin calls that are due, one of each number, those of books with fewer calls first.

        It returns whether there is more to look at.
        """
        if not self._places.has_free:
            # The end of a call wakes it.
            self.rest_s = POLL_S
            return False
        now = self._clock.now()
        if self._after == store.FIRST:
            self.rest_s = POLL_S
        async with self.services.pool.reading() as db:
            rows = await store.list_numbers_waiting(db, self._after, store.NUMBERS_LOOKED)
        is_last = len(rows) < store.NUMBERS_LOOKED
        self._after = store.FIRST if is_last else (rows[-1]["book_id"], rows[-1]["number_id"])
        # The end of a call wakes those that may not have another place.
        rows = [row for row in rows if self._places.may_take(row["book_id"])]
        for row in sorted(rows, key=lambda row: self._places.of(row["book_id"])):
            rest_s = _rest_until(row, now)
            if rest_s <= 0:
                rest_s = await self._claim_from(row["book_id"], row["number_id"])
            self.rest_s = min(self.rest_s, rest_s)
        return self.rest_s <= 0 or not is_last

    async def _claim_from(self, book_id: BookId, number_id: UUID) -> float:
        """Begin a call of one number; how long it can be left alone then."""
        for _ in range(_MOVES_IN_TURN):
            if not self._places.may_take(book_id):
                # The end of a call wakes it.
                return POLL_S
            claimed = await claim_next(self.services, book_id, number_id, self._clock.now())
            if isinstance(claimed, Intent):
                self._begin(claimed)
                # The pace of the number allows no other call before.
                return claimed.pace.total_seconds()
            if not claimed:
                # A slot, or whatever else holds its number at this moment.
                return AGAIN_S
        return 0.0

    def _begin(self, intent: Intent) -> None:
        telephone = self._telephones.get(intent.call.provider)  # pyright: ignore[reportArgumentType]
        handling = Handling(self.services, self._clock, telephone, intent, self._means)
        task = asyncio.create_task(handling.run())
        self._under_way[task] = handling
        self._places.take(intent.call.book_id)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        handling = self._under_way.pop(task)
        self._places.give_back(handling.held[0].book_id)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            # Its lease ends, and a dispatcher finds out the end to write.
            log.warning(
                "voice_end_not_written",
                call=str(handling.held[0].id),
                error=type(error).__name__,
                exc_info=None if isinstance(error, TROUBLE) else error,
            )
        # A slot is free again.
        self._claimed.wake()

    async def watch(self) -> bool:
        """Renew the leases in time, and hang up the calls that are cancelled, hung up or taken."""
        handled = {h.held[0].id: h for h in self._under_way.values()}
        if not handled:
            return False
        held = [(h.held[0].book_id, h.held[0].id, h.held[1]) for h in handled.values()]
        now = self._clock.now()
        if now - self._renewed_at >= RENEW_EVERY:
            async with self.services.pool.transaction() as db:
                rows = await leases.update_leases(db, held, now + LEASE)
            self._renewed_at = now
        else:
            async with self.services.pool.reading() as db:
                rows = await leases.list_held(db, held)
        await self._tell(handled.values())
        known: dict[UUID, bool] = {row["id"]: row["is_to_end"] for row in rows}
        for call_id, handling in handled.items():
            if known.get(call_id, True):
                with contextlib.suppress(OSError):
                    await handling.hang_up()
        return False

    async def _tell(self, handled: Iterable[Handling]) -> None:
        """Hand on callbacks of providers that other processes took."""
        hearing = {h.attempt[1]: h for h in handled if h.hears_callbacks}
        if not hearing:
            return
        async with self.services.pool.reading() as db:
            rows = await hooks.list_told(db, [h.attempt for h in hearing.values()])
        for row in rows:
            hearing[row["id"]].tell(row["told"])

    async def reconcile(self) -> bool:
        """End a call that waited too long, and one whose worker has gone; whether there was one."""
        now = self._clock.now()
        async with self.services.pool.reading() as db:
            if not await leases.has_left_behind(db, now):
                return False
        has_ended = await end_expired(self.services, now)
        return await reconcile(self.services, self._telephones, self._clock) or has_ended


def _rest_until(row: Record, now: datetime) -> float:
    """How long a number can be left alone."""
    return POLL_S if row["due_at"] is None else (row["due_at"] - now).total_seconds()


class RealClock:
    """Time as it passes; tests give the dispatcher a virtual clock."""

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
