"""A plugin of pytest that finds the tests once and runs them in several processes, all forks of it.

Finding twelve thousand tests and loading the product takes each process that does it ten seconds of
work. A fork has all of that, and what it makes for its tests (a server, a database, an application)
is its own.

Tests of a file share what is made for it. Those of generated requests are many and small, so they
come last, one by one: no process is left with a long file when the others are done. In the proof,
whose files take minutes, each test goes where there is room.
"""

import contextlib
import gc
import multiprocessing
import os
import resource
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing.connection import Connection, wait
from typing import Any, NoReturn

import pytest
from _pytest.runner import runtestprotocol
from _pytest.threadexception import collect_thread_exception
from _pytest.unraisableexception import collect_unraisable

_SMALL = "tests/contract/"
# The sources are parsed once for all of its files, which takes some seconds, and 280 MB of a
# process that runs nothing else.
_TOGETHER = "tests/tidy/"
_MIB = 1024
# A process that has told its last is gone in so many seconds, or something that it left holds it.
_GONE_S = 60
# A dead one is looked for so often: a child of its test may keep its connection open.
_LOOK_S = 1
# Told to end by these, all ends as by Ctrl-C.
_ENDS = (signal.SIGTERM, signal.SIGHUP)
_FORK = multiprocessing.get_context("fork")


def pytest_addoption(parser: pytest.Parser) -> None:
    """How many, and what goes to one of them at once."""
    parser.addoption("--processes", type=int, default=0, help="run tests in so many processes")
    parser.addoption("--one-by-one", action="store_true", help="hand tests out one by one")
    parser.addoption(
        "--memory-mib", type=int, default=700, help="replace a process that has taken so much"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The small ones last, and first those whose process is replaced."""
    items.sort(
        key=lambda item: (not item.nodeid.startswith(_TOGETHER), item.nodeid.startswith(_SMALL))
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """All tests; true, since no other plugin needs to run them."""
    count = session.config.getoption("processes")
    if not count or session.testsfailed or session.config.getoption("collectonly"):
        return None
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter:
        # Tests of several files end in turn.
        reporter.showfspath = False
    processes = Processes(session)
    session.config.pluginmanager.register(processes, "processes of tests")
    processes.run(count)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    return True


def _units(items: list[pytest.Item], *, is_one_by_one: bool) -> Iterator[list[int]]:
    """The tests that go to one process at once, by their places in the list of all."""

    def unit(place: int) -> str:
        name = items[place].nodeid
        if name.startswith(_TOGETHER):
            return _TOGETHER
        if is_one_by_one or name.startswith(_SMALL):
            return name
        return name.partition("::")[0]

    for _, places in groupby(range(len(items)), unit):
        yield list(places)


def peak_mib() -> int:
    """The most memory that this process has taken."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // _MIB


def _end_once(*_: object) -> NoReturn:
    """End as by Ctrl-C; who says it again says nothing new."""
    for number in _ENDS:
        signal.signal(number, lambda *_: None)
    raise KeyboardInterrupt


@dataclass
class _Process:
    """A process that runs tests, as the one that forked it sees it."""

    process: Any
    # The places of the tests that it has; it is at the first of them.
    has: deque[int] = field(default_factory=deque[int])
    # The place of the last one that it told of.
    last: int | None = None
    # The most memory that it had taken when it last asked for more.
    took_mib: int = 0
    # When it has to be gone, once it has told its last.
    gone_at: float | None = None


class Processes:
    """Hands out units of tests, and tells the plugins what became of each."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        is_one_by_one = session.config.getoption("one_by_one")
        self._memory_mib: int = session.config.getoption("memory_mib")
        self._units = deque(_units(session.items, is_one_by_one=is_one_by_one))
        self._processes: dict[Connection, _Process] = {}
        self._told = 0
        # The memory that each took.
        self.peaks_mib: list[int] = []

    def run(self, count: int) -> None:
        """Run all tests in so many processes; each is told of, or the run is at fault."""
        for number in _ENDS:
            signal.signal(number, _end_once)
        try:
            for _ in range(count):
                self._start()
            while self._processes and not self._is_over():
                for connection in wait(list(self._processes), _LOOK_S):
                    self._hear(connection)
                self._look()
        except KeyboardInterrupt:
            # Ctrl-C is told to them, too; other signals only to this process.
            for one in self._processes.values():
                one.process.join(_LOOK_S)
                if one.process.is_alive():
                    one.process.terminate()
            raise
        finally:
            # They end after the test that they are at.
            for connection, one in self._processes.items():
                connection.close()
                one.process.join()
        untold = len(self._session.items) - self._told
        if untold and not self._is_over():
            raise RuntimeError(f"Of {untold} tests nothing was told.")

    def _is_over(self) -> bool:
        return bool(self._session.shouldfail or self._session.shouldstop)

    def _start(self) -> None:
        here, there = _FORK.Pipe()
        # Of the others' connections a fork keeps none: each ends with the process that has it.
        process = _FORK.Process(target=self._become, args=(there, [*self._processes, here]))
        process.start()
        there.close()
        self._processes[here] = _Process(process)

    def _become(self, connection: Connection, others: Iterable[Connection]) -> None:
        for other in others:
            other.close()
        Worker(self._session, connection).run()

    def _hear(self, connection: Connection) -> None:
        """Take what one tells, be it only that it has ended."""
        # One that ends while it tells something leaves half of it: an OSError.
        with contextlib.suppress(EOFError, OSError):
            self._take(connection, connection.recv())
            return
        self._end(connection)

    def _take(self, connection: Connection, told: Any) -> None:
        """Reports of a test, its memory at its end, or that it has room, and its memory so far."""
        one = self._processes[connection]
        has = one.has
        match told:
            case list():
                hook, config = self._session.config.hook, self._session.config
                self._report(
                    [
                        hook.pytest_report_from_serializable(config=config, data=data)
                        for data in told
                    ]
                )
                # At the end it has none, and tells of what all of them had set up.
                if has:
                    one.last = has.popleft()
                    self._told += 1
            case int():
                self.peaks_mib.append(told)
                one.gone_at = time.monotonic() + _GONE_S
            case (took_mib,):
                one.took_mib = took_mib
                unit = self._next(one)
                has.extend(unit)
                connection.send(unit)

    def _next(self, one: _Process) -> Sequence[int]:
        """More for a process: while it is at a test, only those of the same file."""
        if self._is_over() or not self._units:
            return ()
        items, following, has = self._session.items, self._units[0], one.has
        if one.last is not None and items[one.last].nodeid.startswith(_TOGETHER):
            return ()
        # The memory that tests leave behind in a process adds up: a new one has room again.
        if one.last is not None and one.took_mib > self._memory_mib:
            return ()
        if has and items[has[-1]].path != items[following[0]].path:
            return ()
        return self._units.popleft()

    def _report(self, reports: Sequence[pytest.TestReport]) -> None:
        hook, (first, *_) = self._session.config.hook, reports
        hook.pytest_runtest_logstart(nodeid=first.nodeid, location=first.location)
        for report in reports:
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=first.nodeid, location=first.location)

    def _look(self) -> None:
        """End those that are dead, though a child of theirs keeps the connection, or never end."""
        for connection, one in list(self._processes.items()):
            if one.gone_at and time.monotonic() > one.gone_at:
                one.process.kill()
                one.gone_at = None
                one.process.join()
            if not one.process.is_alive() and not connection.poll():
                self._end(connection)

    def _end(self, connection: Connection) -> None:
        """One has ended: of itself, or it was killed in a test or after it, and another goes on."""
        one = self._processes.pop(connection)
        connection.close()
        one.process.join()
        code = one.process.exitcode
        if one.has:
            self._fail(
                one.has.popleft(), "call", f"The process of this test has ended with {code}."
            )
            self._told += 1
        elif code or one.gone_at is None:
            if one.last is None:
                raise RuntimeError(f"A process has ended with {code} before its tests.")
            said = f"The process of this test has ended with {code} after it, or went on for ever."
            self._fail(one.last, "teardown", said)
        if one.has:
            self._units.appendleft(list(one.has))
        if self._units:
            self._start()

    def _fail(self, place: int, when: Any, said: str) -> None:
        item = self._session.items[place]
        self._report(
            [
                pytest.TestReport(
                    item.nodeid, item.location, {}, outcome="failed", longrepr=said, when=when
                )
            ]
        )


class Worker:
    """The tests of one process."""

    def __init__(self, session: pytest.Session, connection: Connection) -> None:
        self._session = session
        self._connection = connection
        self._pid = os.getpid()
        # Of the subtests of the test that runs.
        self._reports: list[pytest.TestReport] = []

    def run(self) -> None:
        """Run what is handed out, until there is no more or nobody to tell."""
        config = self._session.config
        config.pluginmanager.register(self)
        # Reports are told by the process that has the run.
        for name in ("terminalreporter", "results of tests"):
            if config.pluginmanager.has_plugin(name):
                config.pluginmanager.unregister(name=name)
        # Output is kept in files, and a fork shares their position with the others.
        capture = config.pluginmanager.get_plugin("capturemanager")
        if capture:
            capture.stop_global_capturing()
            capture.start_global_capturing()
            capture.suspend_global_capture()
        try:
            self._run_all()
        except (EOFError, ConnectionError, KeyboardInterrupt):
            for number in (signal.SIGINT, *_ENDS):
                signal.signal(number, signal.SIG_IGN)
            self._tear_down()

    def _run_all(self) -> None:
        items = self._session.items
        while has := deque(self._more()):
            while has:
                item = items[has.popleft()]
                if not has:
                    has.extend(self._more())
                # The session's own fixtures stay until its end, whatever comes next.
                following: Any = items[has[0]] if has else self._session
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        call = pytest.CallInfo.from_call(self._finish, "teardown")
        if call.excinfo:
            report = self._session.config.hook.pytest_runtest_makereport(item=item, call=call)
            self._tell([report])
        self._connection.send(peak_mib())

    def _more(self) -> Sequence[int]:
        self._connection.send((peak_mib(),))
        return self._connection.recv()

    def _tear_down(self) -> None:
        self._session._setupstate.teardown_exact(None)

    def _finish(self) -> None:
        """End what the tests shared; then no thread and no garbage has an error left to tell."""
        try:
            self._tear_down()
        finally:
            gc.collect()
            collect_unraisable(self._session.config)
            collect_thread_exception(self._session.config)

    def _tell(self, reports: Iterable[pytest.TestReport]) -> None:
        config = self._session.config
        self._connection.send(
            [
                config.hook.pytest_report_to_serializable(config=config, report=report)
                for report in reports
            ]
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test and tell how it went; true, since no other plugin needs to."""
        self._reports = []
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if os.getpid() != self._pid:
            # A fork that a test has let run on: the test is told of by the process that forked it.
            os._exit(1)
        self._tell([*self._reports, *reports])
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what is told while a test runs: its subtests."""
        self._reports.append(report)
