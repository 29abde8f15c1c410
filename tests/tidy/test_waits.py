"""Waits: a limit that a test sets fails the test when it is over."""

import ast
from collections.abc import Iterator

from tests.tidy.tree import Source, python, tidy, walk

_HOME = "tests/waiting.py"
_YARDSTICK = "tests/yardstick.py"
_CLOCKS = {"perf_counter", "monotonic", "thread_time", "process_time"}
# Functions that read a clock and assert no bound that a slow machine breaks.
_UNHURRIED = {
    "tests/access/test_fair_gate.py": "a rest is bounded from below",
    "tests/access/test_rate.py": "what may pass is worked out of the time that it took",
    "tests/accounts/test_login.py": "the quickest of two kinds of request are compared",
    "tests/forking.py": "a process that never ends is killed",
    "tests/http/test_odd_numbers.py": "a body is compared with another of the same size",
    "tests/jobs/test_worker.py": "a rest is bounded from below",
    "tests/system/test_backup.py": "moments to kill a process at",
    "tests/money/__main__.py": "a report, and when no further walk is begun",
    "tests/system/chaos.py": "a report, and limits of waits",
    "tests/voice/__main__.py": "a report",
    "tests/voice/speech/test_engines.py": "the processor times of two processes are compared",
    "tests/system/test_logs.py": "an outage lasts so long",
    "tests/system/test_idle.py": "what may be asked is worked out of the time that it took",
    "tests/system/raw_socket.py": "its callers judge what it took",
    "tests/system/serving.py": "its callers judge what it took; limits of waits",
    "tests/held_loop.py": "it measures, and its caller compares",
    "tests/system/test_rate.py": "what may pass is worked out of the time that it took",
    "tests/webhooks/test_stream_wakes.py": "what may be told is worked out of what it took",
    "tests/webhooks/test_crash.py": "moments to kill a process at",
}

_CANCELLING = {"wait_for", "timeout", "timeout_at"}


def test_no_wait_is_ended_by_cancelling_alone() -> None:
    """Work that takes its cancellation for a proper end would pass as if it had ended by itself."""
    tidy(
        "No asyncio.wait_for and no asyncio.timeout in tests: `ended` and `within` of "
        f"{_HOME} fail when the time is over, whatever the work makes of being cancelled.",
        (
            f"{source.at(node)} {ast.unparse(node)}"
            for source in python("tests")
            if source.path != _HOME
            for node in _cancelling(source)
        ),
    )


def _cancelling(source: Source) -> Iterator[ast.AST]:
    for node in walk(source.tree):
        match node:
            case ast.Attribute(value=ast.Name(id="asyncio"), attr=name) if name in _CANCELLING:
                yield node
            case ast.ImportFrom(module="asyncio", names=names):
                if _CANCELLING & {alias.name for alias in names}:
                    yield node
            case _:
                pass


def test_no_bound_is_in_seconds_alone() -> None:
    """A machine that is slow, or shared, takes longer for everything."""
    reading = {
        source.path: source
        for source in python("tests")
        if source.path != _YARDSTICK and _reads_a_clock(source)
    }
    assert _UNHURRIED.keys() <= reading.keys(), "_UNHURRIED names a file that reads no clock"
    tidy(
        f"A test that reads a clock compares with {_YARDSTICK}, or its reason stands in _UNHURRIED "
        f"of {__name__}: count work instead of time where that is possible.",
        (
            path
            for path, source in reading.items()
            if path not in _UNHURRIED and "from tests.yardstick import" not in source.text
        ),
    )


def _reads_a_clock(source: Source) -> bool:
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (
            node.func.attr in _CLOCKS or ast.unparse(node.func) == "asyncio.get_running_loop().time"
        )
        for node in walk(source.tree)
    )
