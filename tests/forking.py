"""A plugin of pytest that finds the tests once and runs them in several processes, all forks of it.

Finding twelve thousand tests and loading the product takes each process that does it ten seconds of
work. A fork has all of that, and what it makes for its tests (a server, a database, an application)
is its own. Each asks for the next unit of tests when it begins the last that it has: what comes
next decides what stays set up.

Tests of a file share what is made for it. Those of generated requests are many and small, so they
come last, one by one: no process is left with a long file when the others are done. In the proof,
whose files take minutes, each test goes where there is room.
"""

import contextlib
import multiprocessing
import resource
import signal
from collections import deque
from collections.abc import Iterable, Iterator
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
        # The memory that each took.
        self.peaks_mib: list[int] = []

    def run(self, count: int) -> None:
        """Run all tests in so many processes."""
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
                self._report(has.popleft(), told)
            case int():
                self.peaks_mib.append(told)
            case None:
                is_over = self._session.shouldfail or self._session.shouldstop
                unit = self._units.popleft() if self._units and not is_over else []
                has.extend(unit)
                connection.send(unit)

    def _report(self, place: int, reports: list[dict[str, Any]]) -> None:
        config, item = self._session.config, self._session.items[place]
        config.hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for data in reports:
            report = config.hook.pytest_report_from_serializable(config=config, data=data)
            config.hook.pytest_runtest_logreport(report=report)
        config.hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _end(self, connection: Connection) -> None:
        """One has ended: of itself, or it was killed in a test, and another goes on."""
        process, has = self._processes.pop(connection)
        connection.close()
        process.join()
        if not has:
            if process.exitcode:
                raise RuntimeError(f"A process has ended with {process.exitcode} between tests.")
            return
        place = has.popleft()
        item = self._session.items[place]
        said = f"The process of this test has ended with {process.exitcode}."
        report = pytest.TestReport(
            item.nodeid, item.location, {}, outcome="failed", longrepr=said, when="call"
        )
        config = self._session.config
        self._report(
            place, [config.hook.pytest_report_to_serializable(config=config, report=report)]
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
        except (EOFError, BrokenPipeError, KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            self._session._setupstate.teardown_exact(None)

    def _run_all(self) -> None:
        items = self._session.items
        has = deque(self._more())
        while has:
            item = items[has.popleft()]
            if not has:
                has.extend(self._more())
            following = items[has[0]] if has else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        self._connection.send(peak_mib())

    def _more(self) -> list[int]:
        self._connection.send(None)
        return self._connection.recv()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test and tell how it went; true, since no other plugin needs to."""
        config = item.config
        self._connection.send(
            [
                config.hook.pytest_report_to_serializable(config=config, report=report)
                for report in runtestprotocol(item, log=False, nextitem=nextitem)
            ]
        )
        return True
