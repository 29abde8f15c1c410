"""Several serving processes on the same sockets: started, replaced when they die, stopped."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import tempfile
import time
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping, Sequence

import structlog
from prometheus_client.multiprocess import mark_process_dead

from tillhouse.cli.child import SHARED_METRICS, hear, start_child
from tillhouse.cli.child_process import ChildProcess
from tillhouse.cli.output import CommandError
from tillhouse.cli.stopping import CHILDREN_STOPPED_WITHIN_S, Stop
from tillhouse.cli.worker import WorkerOrder

# A worker that died young would die again at once: its successor waits a moment.
YOUNG_S = 5.0
PAUSE_S = 1.0

log = structlog.get_logger()


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
        self._beside = beside
        self._order = order
        self._sockets = sockets
        self._count = count
        self._on_ready = on_ready
        self._alive: set[Process] = set()
        self._ready = 0
        self._leaving = asyncio.Event()
        self._has_failed = False
        self._counts = ""

    async def run(self) -> None:
        """Serve until a signal comes; requests finish before the end."""
        loop = asyncio.get_running_loop()
        # Fresh, because counts of an earlier run would be added to this one's.
        self._counts = tempfile.mkdtemp(prefix="tillhouse-metrics-")
        self._stop.at_last(self._forget_counts)
        try:
            with self._stop.leaving_by(lambda: loop.call_soon_threadsafe(self._leave)):
                await asyncio.gather(
                    self._keep_beside(), *(self._keep() for _ in range(self._count))
                )
        finally:
            self._forget_counts()
        if self._has_failed:
            raise CommandError("Tillhouse could not start: the line above says why.")

    async def _keep_beside(self) -> None:
        """Keep the processes beside the workers, and stop them when those do."""
        for process in self._beside:
            process.environment = self._environment
            process.start()
        await self._leaving.wait()
        await asyncio.gather(*(process.stop() for process in self._beside))

    @property
    def _environment(self) -> Mapping[str, str]:
        return {**os.environ, SHARED_METRICS: self._counts}

    def _forget_counts(self) -> None:
        shutil.rmtree(self._counts, ignore_errors=True)

    def _leave(self) -> None:
        if self._leaving.is_set():
            return
        self._leaving.set()
        asyncio.get_running_loop().call_later(CHILDREN_STOPPED_WITHIN_S, self._kill)
        # The last worker closes them: no caller waits at a socket without a listener.
        for each in self._sockets:
            each.close()
        for worker in self._alive:
            _send_signal(worker, signal.SIGTERM)

    def _kill(self) -> None:
        for worker in self._alive:
            log.error("worker_killed", pid=worker.pid, after_s=CHILDREN_STOPPED_WITHIN_S)
            _send_signal(worker, signal.SIGKILL)

    async def _keep(self) -> None:
        """Keep one worker alive as long as we serve."""
        while not self._leaving.is_set():
            began = time.monotonic()
            try:
                worker = await self._start()
            except OSError as error:
                if self._ready < self._count:
                    raise
                # No memory or no descriptors now: there may be some later.
                log.error("worker_not_started", error=str(error))  # noqa: TRY400 - said in full
                await self._pause()
                continue
            was_ready = await self._hear(worker)
            code = await worker.wait()
            self._alive.discard(worker)
            mark_process_dead(worker.pid, self._counts)
            if self._leaving.is_set():
                return
            if not was_ready and self._ready < self._count:
                self._has_failed = True
                self._leave()
                return
            log.error("worker_died", pid=worker.pid, code=code)
            if time.monotonic() - began < YOUNG_S:
                await self._pause()

    async def _start(self) -> Process:
        worker = await start_child(
            "tillhouse.cli.worker",
            self._order,
            sockets=[each.fileno() for each in self._sockets],
            environment=self._environment,
        )
        self._alive.add(worker)
        if self._leaving.is_set():
            # The signal came while it was being started, and went to the others alone.
            _send_signal(worker, signal.SIGTERM)
        return worker

    async def _hear(self, worker: Process) -> bool:
        """Follow it to its end; whether it became ready, which its first beat says."""
        was_ready = False

        def take(_beat: bytes) -> None:
            nonlocal was_ready
            if was_ready:
                return
            was_ready = True
            self._ready += 1
            if self._ready == self._count:
                self._on_ready()

        await hear(worker, take)
        return was_ready

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(PAUSE_S):
                await self._leaving.wait()
        except TimeoutError:
            pass


def _send_signal(worker: Process, number: signal.Signals) -> None:
    # It may have ended already; then the signal is for the others.
    with contextlib.suppress(ProcessLookupError):
        worker.send_signal(number)


def order_for(
    given: dict[str, object],
    database_url: str,
    master_key: str,
    sockets: list[socket.socket],
    *,
    runs_workers: bool,
) -> WorkerOrder:
    """The order to every serving process."""
    return WorkerOrder(
        given={name: str(value) for name, value in given.items() if value is not None},
        database_url=database_url,
        master_key=master_key,
        sockets=[each.fileno() for each in sockets],
        runs_workers=runs_workers,
    )
