"""Waits: a limit that a test sets fails the test when it is over."""

import ast
from collections.abc import Iterator

from tests.tidy.tree import Source, python, tidy, walk

_HOME = "tests/waiting.py"
_YARDSTICK = "tests/yardstick.py"
# Clocks on a wall, which others' work on the machine moves on.
_CLOCKS = {"perf_counter", "monotonic"}
_LOOP_CLOCK = "asyncio.get_running_loop().time"
# The processor's own time grows on a slow machine, too, but not with the work of others.
_PROCESSOR_CLOCKS = {"thread_time", "process_time"}
# Files that read a clock, and assert no bound that a slow machine breaks.
_UNHURRIED = {
    "tests/access/test_fair_gate.py": "a rest is bounded from below",
    "tests/access/test_rate.py": "what may pass is worked out of the time that it took",
    "tests/accounts/test_login.py": "the quickest of two kinds of request are compared",
    "tests/cli/test_listen.py": "a report",
    "tests/forking.py": "a process that never ends is killed",
    "tests/held_loop.py": "it measures, and its caller compares",
    "tests/http/test_odd_numbers.py": "a body is compared with another of the same size",
    "tests/jobs/test_worker.py": "a rest is bounded from below; which of two moments is later",
    "tests/money/__main__.py": "a report, and when no further walk is begun",
    "tests/system/chaos.py": "a report, and limits of waits",
    "tests/system/raw_socket.py": "its callers report what it took",
    "tests/system/serving.py": "a report; limits of waits",
    "tests/system/test_backup.py": "moments to kill a process at",
    "tests/system/test_caller_process.py": "a report",
    "tests/system/test_connections.py": "a report",
    "tests/system/test_faults.py": "a report, and which of two moments is later",
    "tests/system/test_floods.py": "a report",
    "tests/system/test_hostile.py": "a report",
    "tests/system/test_idle.py": "what may be asked is worked out of the time that it took",
    "tests/system/test_killed_calls.py": "a report",
    "tests/system/test_live_pages.py": "a report",
    "tests/system/test_logs.py": "an outage lasts so long",
    "tests/system/test_outages.py": "a report",
    "tests/system/test_rate.py": "what may pass is worked out of the time that it took",
    "tests/system/test_streams.py": "a report",
    "tests/voice/__main__.py": "a report",
    "tests/voice/speech/test_engines.py": "the processor times of two processes are compared",
    "tests/webhooks/test_crash.py": "moments to kill a process at",
    "tests/webhooks/test_hostile.py": "a report, a bound from below, and two processor times",
    "tests/webhooks/test_stream_wakes.py": "what may be told is worked out of what it took",
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


def test_no_duration_has_an_upper_bound() -> None:
    """A machine that is slow, or shared, takes longer for everything."""
    tidy(
        "No test asserts that something took less than so long: count work, or prove by an order "
        f"of events what would come later. An end that may not come is waited for by {_HOME}; a "
        "bar of speed is a ratio in `bench`.",
        (
            f"{source.at(node)} {ast.unparse(node)}"
            for source in python("tests")
            for node in walk(source.tree)
            if isinstance(node, ast.Assert)
            and any(_bounds_a_duration(part) for part in ast.walk(node.test))
        ),
    )


def _bounds_a_duration(node: ast.AST) -> bool:
    match node:
        case ast.Compare(left=shorter, ops=[ast.Lt() | ast.LtE()]):
            return _holds_a_duration(shorter)
        case ast.Compare(ops=[ast.Gt() | ast.GtE()], comparators=[shorter]):
            return _holds_a_duration(shorter)
        case _:
            return False


def _holds_a_duration(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub) and _reads(part, _CLOCKS)
        for part in ast.walk(node)
    )


def test_who_reads_a_clock_says_what_for() -> None:
    """A duration may be reported, bounded from below, or turned into what may happen meanwhile."""
    every = _CLOCKS | _PROCESSOR_CLOCKS
    reading = {
        source.path: source
        for source in python("tests")
        if source.path != _YARDSTICK and _reads(source.tree, every)
    }
    assert _UNHURRIED.keys() <= reading.keys(), "_UNHURRIED names a file that reads no clock"
    tidy(
        f"A test that reads a clock says in _UNHURRIED of {__name__} why no slow machine breaks "
        f"it; one that bounds the processor's own time may compare with {_YARDSTICK} instead.",
        (
            path
            for path, source in reading.items()
            if path not in _UNHURRIED
            and (_reads(source.tree, _CLOCKS) or "from tests.yardstick import" not in source.text)
        ),
    )


def _reads(tree: ast.AST, clocks: set[str]) -> bool:
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (node.func.attr in clocks or ast.unparse(node.func) == _LOOP_CLOCK)
        for node in ast.walk(tree)
    )
