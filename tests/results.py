"""A plugin of pytest that writes what became of each test into a file, for `tests.run`.

A line for each test: its name, its outcome, its seconds, and what it said when it failed or was
skipped. The last line tells of the processes that ran them.
"""

import json
from pathlib import Path
from typing import Any, TextIO

import pytest

from tests.forking import peak_mib


def pytest_addoption(parser: pytest.Parser) -> None:
    """The file."""
    parser.addoption("--results", help="write the result of each test into this file")


def pytest_configure(config: pytest.Config) -> None:
    """Begin the file."""
    if path := config.getoption("--results"):
        config.pluginmanager.register(_Results(config, Path(path)), "results of tests")


class _Results:
    def __init__(self, config: pytest.Config, path: Path) -> None:
        self._config = config
        self._file: TextIO = path.open("w", buffering=1)
        self._seconds: dict[str, float] = {}
        self._outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One phase of a test: the first that tells something but success decides.

        The end of what a process has set up is told with its last test, after that has ended.
        """
        if isinstance(report, pytest.SubtestReport) and not report.failed:
            return
        name = report.nodeid
        seconds = self._seconds[name] = self._seconds.get(name, 0.0) + report.duration
        decided = self._outcomes.get(name)
        is_late = decided == "failed" or (decided and not report.failed)
        if is_late or (report.passed and report.when != "teardown"):
            return
        self._outcomes[name] = report.outcome
        said = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        is_end = report.when == "teardown"
        self._write(name=name, outcome=report.outcome, seconds=seconds, said=said, is_end=is_end)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that can't be collected is a failure of its own."""
        if report.failed:
            said = report.longreprtext
            self._write(name=report.nodeid, outcome="failed", seconds=0.0, said=said, is_end=False)

    def pytest_sessionfinish(self) -> None:
        """All is said."""
        processes = self._config.pluginmanager.get_plugin("processes of tests")
        self._write(peaks_mib=processes.peaks_mib if processes else [peak_mib()])
        self._file.close()

    def _write(self, **line: Any) -> None:
        self._file.write(json.dumps(line) + "\n")
