"""A plugin of pytest that finds the tests once and runs them in several processes, all forks of it.

Finding twelve thousand tests and loading the product takes each process that does it ten seconds of
work. A fork has all of that, and what it makes for its tests (a server, a database, an application)
is its own.

Tests of a file share what is made for it. Those of generated requests are many and small, so they
come last, one by one: no process is left with a long file when the others are done. In the proof,
whose files take minutes, each test goes where there is room.
"""

import contextlib
import multiprocessing
import resource
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

import pytest
from _pytest.runner import runtestprotocol

_SMALL = "tests/contract/"
# The sources are parsed once for all of its files, which takes 280 MB and some seconds.
_TOGETHER = "tests/tidy/"
_MIB = 1024
_FORK = multiprocessing.get_context("fork")


def pytest_addoption(parser: pytest.Parser) -> None:
    """How many, and what goes to one of them at once."""
    parser.addoption("--processes", type=int, default=0, help="run tests in so many processes")
    parser.addoption("--one-by-one", action="store_true", help="hand tests out one by one")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The small ones last."""
    items.sort(key=lambda item: item.nodeid.startswith(_SMALL))


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


class _Process(NamedTuple):
    """A process that runs tests, as the one that forked it sees it."""

    process: Any
    # The places of the tests that it has; it is at the first of them.
    has: deque[int]


class Processes:
    """Hands out units of tests, and tells the plugins what became of each."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        is_one_by_one = session.config.getoption("one_by_one")
        self._units = deque(_units(session.items, is_one_by_one=is_one_by_one))
        self._processes: dict[Connection, _Process] = {}
        self._told = 0
        # The memory that each took.
        self.peaks_mib: list[int] = []

    def run(self, count: int) -> None:
        """Run all tests in so many processes; each is told of, or the run is at fault."""
        for _ in range(count):
            self._start()
        try:
            while self._processes:
                for connection in wait(list(self._processes)):
                    self._hear(connection)
        finally:
            # They end after the test that they are at.
            for connection, (process, _) in self._processes.items():
                connection.close()
                process.join()
        untold = len(self._session.items) - self._told
        if untold and not (self._session.shouldfail or self._session.shouldstop):
            raise RuntimeError(f"Of {untold} tests nothing was told.")

    def _start(self) -> None:
        here, there = _FORK.Pipe()
        # Of the others' connections a fork keeps none: each ends with the process that has it.
        process = _FORK.Process(target=self._become, args=(there, [*self._processes, here]))
        process.start()
        there.close()
        self._processes[here] = _Process(process, deque())

    def _become(self, connection: Connection, others: Iterable[Connection]) -> None:
        for other in others:
            other.close()
        Worker(self._session, connection).run()

    def _hear(self, connection: Connection) -> None:
        """Take what one tells, be it only that it has ended."""
        with contextlib.suppress(EOFError, ConnectionError):
            self._take(connection, connection.recv())
            return
        self._end(connection)

    def _take(self, connection: Connection, told: Any) -> None:
        """Reports of a test, its memory at its end, or that it has room."""
        has = self._processes[connection].has
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
                    has.popleft()
                    self._told += 1
            case int():
                self.peaks_mib.append(told)
            case None:
                unit = self._next(has)
                has.extend(unit)
                connection.send(unit)

    def _next(self, has: Sequence[int]) -> Sequence[int]:
        """More for a process that has these: while it is at one, only tests of the same file."""
        is_over = self._session.shouldfail or self._session.shouldstop
        if is_over or not self._units:
            return ()
        items, following = self._session.items, self._units[0]
        if has and items[has[-1]].path != items[following[0]].path:
            return ()
        return self._units.popleft()

    def _report(self, reports: Sequence[pytest.TestReport]) -> None:
        hook, (first, *_) = self._session.config.hook, reports
        hook.pytest_runtest_logstart(nodeid=first.nodeid, location=first.location)
        for report in reports:
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=first.nodeid, location=first.location)

    def _end(self, connection: Connection) -> None:
        """One has ended: of itself, or it was killed in a test, and another goes on."""
        process, has = self._processes.pop(connection)
        connection.close()
        process.join()
        if not has:
            if process.exitcode:
                raise RuntimeError(f"A process has ended with {process.exitcode} between tests.")
            return
        item = self._session.items[has.popleft()]
        self._told += 1
        said = f"The process of this test has ended with {process.exitcode}."
        self._report(
            [
                pytest.TestReport(
                    item.nodeid, item.location, {}, outcome="failed", longrepr=said, when="call"
                )
            ]
        )
        if has:
            self._units.appendleft(list(has))
        if self._units:
            self._start()


class Worker:
    """The tests of one process."""

    def __init__(self, session: pytest.Session, connection: Connection) -> None:
        self._session = session
        self._connection = connection

    def run(self) -> None:
        """Run what is handed out, until there is no more or nobody to tell."""
        config = self._session.config
        config.pluginmanager.register(self)
        # Output is kept in files, and a fork shares their position with the others.
        capture = config.pluginmanager.get_plugin("capturemanager")
        if capture:
            capture.stop_global_capturing()
            capture.start_global_capturing()
            capture.suspend_global_capture()
        try:
            self._run_all()
        except (EOFError, ConnectionError, KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_IGN)
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
        call = pytest.CallInfo.from_call(self._tear_down, "teardown")
        if call.excinfo:
            report = self._session.config.hook.pytest_runtest_makereport(item=item, call=call)
            self._tell([report])
        self._connection.send(peak_mib())

    def _more(self) -> Sequence[int]:
        self._connection.send(None)
        return self._connection.recv()

    def _tear_down(self) -> None:
        self._session._setupstate.teardown_exact(None)

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
        self._tell(runtestprotocol(item, log=False, nextitem=nextitem))
        return True
