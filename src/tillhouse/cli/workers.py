"""Several serving processes on the same sockets: started, replaced when they die, stopped."""

import asyncio
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Sequence

from prometheus_client.multiprocess import mark_process_dead

from tillhouse.cli.child import SHARED_METRICS
from tillhouse.cli.child_process import ChildProcess
from tillhouse.cli.output import CommandError
from tillhouse.cli.stopping import CHILDREN_STOPPED_WITHIN_S, Stop
from tillhouse.cli.worker import WorkerOrder


class WorkerProcesses:
    """Keeps so many workers alive until a signal comes."""

    def __init__(
        self,
        order: WorkerOrder,
        sockets: list[socket.socket],
        count: int,
        on_ready: Callable[[], None],
        stop: Stop,
        beside: Sequence[ChildProcess] = (),
    ) -> None:
        self._stop = stop
        self._sockets = sockets
        self._count = count
        self._on_ready = on_ready
        self._processes = (*beside, *(_ServingProcess(order, self) for _ in range(count)))
        self._ready: set[ChildProcess] = set()
        self._has_failed = False
        self._counts = ""

    async def run(self) -> None:
        """Serve until a signal comes; requests finish before the end."""
        loop = asyncio.get_running_loop()
        leaving = asyncio.Event()
        # Fresh, because counts of an earlier run would be added to this one's.
        self._counts = tempfile.mkdtemp(prefix="tillhouse-metrics-")
        self._stop.at_last(self._forget_counts)
        try:
            with self._stop.leaving_by(lambda: loop.call_soon_threadsafe(leaving.set)):
                await self._keep_until(leaving)
        finally:
            self._forget_counts()
        if self._has_failed:
            raise CommandError("Tillhouse could not start: the line above says why.")

    async def _keep_until(self, leaving: asyncio.Event) -> None:
        for process in self._processes:
            process.environment = {**os.environ, SHARED_METRICS: self._counts}
            process.start()
        told = asyncio.ensure_future(leaving.wait())
        kept = (process.task for process in self._processes if process.task is not None)
        # None of them ends before it is told to, but one that could not serve at all.
        await asyncio.wait({told, *kept}, return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        # The last worker closes them: no caller waits at a socket without a listener.
        for each in self._sockets:
            each.close()
        await asyncio.gather(*(process.stop() for process in self._processes))

    def _forget_counts(self) -> None:
        shutil.rmtree(self._counts, ignore_errors=True)

    def note_ready(self, worker: ChildProcess) -> None:
        """Tell of the first time that all of them serve."""
        if worker not in self._ready:
            self._ready.add(worker)
            if len(self._ready) == self._count:
                self._on_ready()

    def is_to_be_replaced(self, worker: ChildProcess, pid: int | None) -> bool:
        """Whether others serve already, or this one did: it may have been the machine."""
        if pid is not None:
            mark_process_dead(pid, self._counts)
        if worker.has_begun or len(self._ready) == self._count:
            return True
        self._has_failed = True
        return False


class _ServingProcess(ChildProcess):
    """One of the workers; requests that are long hold up its beats."""

    stopped_within_s = silent_at_stop_s = CHILDREN_STOPPED_WITHIN_S

    def __init__(self, order: WorkerOrder, owner: WorkerProcesses) -> None:
        super().__init__("worker", "tillhouse.cli.worker", order)
        self.sockets = order.sockets
        self._owner = owner

    def on_first_beat(self, pid: int) -> None:
        self._owner.note_ready(self)

    def is_to_be_replaced(self, pid: int | None) -> bool:
        return self._owner.is_to_be_replaced(self, pid)
