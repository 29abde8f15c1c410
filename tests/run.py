"""Runs a tier of the tests: `make test`, which takes minutes, and `make proof`, all that is longer.

With CI set, a test that failed runs again alone when all others are done, up to twice. One that
passes then is unsteady, which is told and is a fault to mend; one that doesn't is red.
"""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parent
# Tests wait for clocks and for each other, those of the proof for two fifths of their time: three
# processes use what two leave of two cores.
_COMMON = ("--processes", "3", "-m")
TIERS = {"test": (*_COMMON, "not proof"), "proof": (*_COMMON, "proof", "--one-by-one")}
_MEMORY = Path("/dev/shm")
_ROOM = 6 << 30
# The file by which the folder of a run is known, and by which it is held.
_LOCK = "tillhouse-tests.lock"
TRIES_AGAIN = 2
# Of a change that breaks more than these, none runs again.
AGAIN_AT_MOST = 25
# Exit codes of pytest.
PASSED, FAILED, INTERRUPTED = 0, 1, 2


class Result(NamedTuple):
    """The end of one test."""

    name: str
    outcome: str
    seconds: float
    said: str
    # Whether it is about the end of what the test used, be it of others, too.
    is_end: bool

    @property
    def part(self) -> str:
        """The folder below `tests` that it stands in."""
        return self.name.removeprefix("tests/").partition("/")[0]

    @property
    def words(self) -> str:
        """The last lines of its assertion."""
        lines = [line for line in self.said.splitlines() if line.startswith("E ")]
        return "\n".join(f"  {line}" for line in (lines or self.said.splitlines())[:12])


class Run(NamedTuple):
    """The end of all tests of a run."""

    code: int
    results: list[Result]
    peak_mib: int

    @property
    def failed(self) -> list[Result]:
        """Those that failed."""
        return [one for one in self.results if one.outcome == "failed"]


def main(tier: str, *args: str) -> int:
    """Run a tier; the exit code."""
    # Ctrl-C is for pytest, whose processes end the servers that they have started.
    signal.signal(signal.SIGINT, lambda *_: None)
    given = [_path(*pair) for pair in pairwise(("", *args))]
    run = run_tests(*TIERS[tier], *given, above=_memory())
    if tier == "proof":
        tell_table(run.results)
    sys.stdout.write(f"The largest worker took {run.peak_mib} MiB.\n")
    if run.code != FAILED or not os.environ.get("CI"):
        return run.code
    if len(run.failed) > AGAIN_AT_MOST:
        sys.stdout.write(f"More than {AGAIN_AT_MOST} failed: none runs again.\n")
        return run.code
    if not run.failed:
        return run.code
    return run_again(run.failed)


def _path(before: str, arg: str) -> str:
    """The folder that a part is; what follows `-k` or `-m` is a word of the test."""
    is_part = before not in {"-k", "-m"} and (TESTS / arg).is_dir()
    return str(TESTS / arg) if is_part else arg


def run_tests(*args: str, above: Path | None = None) -> Run:
    """Run pytest to its end, in a folder of its own for all that its tests leave behind."""
    with _folder(above or Path(tempfile.gettempdir())) as (folder, lock):
        file = folder / "results"
        plugins = ("-p", "tests.forking", "-p", "tests.results", f"--results={file}")
        with (
            subprocess.Popen(
                [sys.executable, "-m", "pytest", *plugins, *args],
                cwd=TESTS.parent,
                env=os.environ | {"TMPDIR": str(folder)},
                pass_fds=[lock],
            ) as process,
            _passing_on(process),
        ):
            code = process.wait()
        lines = file.read_text().splitlines() if file.exists() else []
    found = [json.loads(line) for line in lines]
    peaks = next((line["peaks_mib"] for line in found if "peaks_mib" in line), [0])
    return Run(code, [Result(**line) for line in found if "name" in line], max(peaks, default=0))


@contextlib.contextmanager
def _folder(above: Path) -> Iterator[tuple[Path, int]]:
    """A folder, and the lock that all processes of a run hold on it; those of killed runs go."""
    guard = os.open(above, os.O_RDONLY)
    fcntl.flock(guard, fcntl.LOCK_EX)
    for left in above.glob(f"t-*/{_LOCK}"):
        if not _is_held(left):
            shutil.rmtree(left.parent, ignore_errors=True)
    # The paths of sockets are short.
    with tempfile.TemporaryDirectory(prefix="t-", dir=above) as folder:
        lock = os.open(f"{folder}/{_LOCK}", os.O_RDWR | os.O_CREAT)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.close(guard)
        # Servers of other users go through it to theirs.
        Path(folder).chmod(0o711)
        try:
            yield Path(folder), lock
        finally:
            os.close(lock)


def _is_held(lock: Path) -> bool:
    """Whether a process of its run lives."""
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@contextlib.contextmanager
def _passing_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Let a process end when this one is told to: it ends what it started, this one the rest."""
    ends = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(end, lambda *_: process.send_signal(signal.SIGTERM)) for end in ends]
    try:
        yield
    finally:
        for end, handler in zip(ends, before, strict=True):
            signal.signal(end, handler)


def _memory() -> Path | None:
    """A folder in memory, where there is room: tests make files and databases by the thousand."""
    if not _MEMORY.is_dir():
        return None
    found = os.statvfs(_MEMORY)
    is_roomy = found.f_bavail * found.f_frsize >= _ROOM
    return _MEMORY if is_roomy and not found.f_flag & os.ST_NOEXEC else None


def run_again(failed: Iterable[Result]) -> int:
    """Run each failed test alone, and tell which are unsteady and which are red.

    One that doesn't pass again, because it is skipped or isn't found by its name, is red as well.
    """
    unsteady: list[Result] = []
    red: list[Result] = []
    for first in failed:
        said = first
        if first.is_end:
            # The end may be of something that tests before it used: alone, it proves nothing.
            red.append(first)
            continue
        for _ in range(TRIES_AGAIN):
            run = run_tests("-p", "no:cacheprovider", "-q", first.name)
            if run.code == INTERRUPTED:
                return run.code
            if [one.outcome for one in run.results] == ["passed"]:
                unsteady.append(first)
                break
            said = (run.failed or [first])[0]
        else:
            red.append(said)
    for kind, tests in (("unsteady", unsteady), ("red", red)):
        for test in tests:
            sys.stdout.write(f"{kind}: {test.name}\n{test.words}\n")
    return FAILED if red else PASSED


def tell_table(results: Iterable[Result]) -> None:
    """The parts of the run: tests, seconds, passed, failed, skipped and why."""
    by_part: defaultdict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_part[result.part].append(result)
    sys.stdout.write(
        f"\n{'part':<14}{'tests':>7}{'seconds':>9}{'passed':>8}{'failed':>8}  skipped\n"
    )
    for part, found in sorted(by_part.items()):
        counts = Counter(one.outcome for one in found)
        why = Counter(
            one.said.removeprefix("Skipped: ") for one in found if one.outcome == "skipped"
        )
        skipped = "; ".join(f"{count} ({reason})" for reason, count in why.items()) or "0"
        seconds = sum(one.seconds for one in found)
        sys.stdout.write(
            f"{part:<14}{len(found):>7}{seconds:>9.0f}{counts['passed']:>8}{counts['failed']:>8}"
            f"  {skipped}\n"
        )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
