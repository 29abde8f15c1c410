"""A plugin of pytest that writes what became of each test into a file, for `tests.run`.

A line for each test: its name, its outcome, its seconds, and what it said when it failed or was
skipped. The last line tells of the processes that ran them.
"""

import json
import resource
from pathlib import Path
from typing import Any, TextIO

import pytest

_MIB = 1024


def pytest_addoption(parser: pytest.Parser) -> None:
    """The file."""
    parser.addoption("--results", help="write the result of each test into this file")


def pytest_configure(config: pytest.Config) -> None:
    """Of processes that run tests at once, the one that hears of all writes."""
    path = config.getoption("--results")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Results(Path(path)), "results of tests")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker tells how much memory it took."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["peak_mib"] = _peak_mib()


class _Results:
    def __init__(self, path: Path) -> None:
        self._file: TextIO = path.open("w")
        self._seconds: dict[str, float] = {}
        self._peaks_mib: list[int] = []
        self._decided: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One phase of a test: the first that tells something but success decides."""
        name = report.nodeid
        seconds = self._seconds[name] = self._seconds.get(name, 0.0) + report.duration
        if name in self._decided or (report.passed and report.when != "teardown"):
            return
        self._decided.add(name)
        said = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        self._write(name=name, outcome=report.outcome, seconds=seconds, said=said)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that can't be collected is a failure of its own."""
        if report.failed:
            self._write(name=report.nodeid, outcome="failed", seconds=0.0, said=report.longreprtext)

    def pytest_testnodedown(self, node: Any) -> None:
        """A worker has ended."""
        output = getattr(node, "workeroutput", None) or {}
        self._peaks_mib.append(output.get("peak_mib", 0))

    def pytest_sessionfinish(self) -> None:
        """All is said."""
        self._write(peaks_mib=self._peaks_mib or [_peak_mib()])
        self._file.close()

    def _write(self, **line: Any) -> None:
        self._file.write(json.dumps(line) + "\n")


def _peak_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // _MIB
