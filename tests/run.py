"""Runs a tier of the tests: `make test`, which takes minutes, and `make proof`, all that is longer.

With CI set, a test that failed runs again alone when all others are done, up to twice. One that
passes then is unsteady, which is told and is a fault to mend; one that doesn't is red.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parent
# Tests wait for clocks and for each other, those of the proof for two fifths of their time: three
# processes use what two leave of two cores.
_COMMON = ("--processes", "3", "-m")
TIERS = {"test": (*_COMMON, "not proof"), "proof": (*_COMMON, "proof", "--one-by-one")}
_MEMORY = Path("/dev/shm")
_ROOM = 6 << 30
TRIES_AGAIN = 2
# Of a change that breaks more than these, none runs again.
AGAIN_AT_MOST = 25
# Exit codes of pytest.
PASSED, FAILED, NOTHING_RUN = 0, 1, 5


class Result(NamedTuple):
    """The end of one test."""

    name: str
    outcome: str
    seconds: float
    said: str

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
    parts = [arg for arg in args if (TESTS / arg).is_dir()] if tier == "proof" else []
    others = [arg for arg in args if arg not in parts]
    where = [str(TESTS / part) for part in parts]
    run = run_tests(*TIERS[tier], *others, *where, above=_memory() if tier == "test" else None)
    if tier == "proof":
        tell_table(run.results)
    sys.stdout.write(f"The largest worker took {run.peak_mib} MiB.\n")
    if run.code != FAILED or not os.environ.get("CI"):
        return run.code
    if not 0 < len(run.failed) <= AGAIN_AT_MOST:
        return run.code
    return run_again(run.failed)


def run_tests(*args: str, above: Path | None = None) -> Run:
    """Run pytest to its end, in a folder of its own for all that its tests leave behind."""
    # The paths of sockets are short, and servers of other users go through it to theirs.
    with tempfile.TemporaryDirectory(prefix="t-", dir=above) as folder:
        Path(folder).chmod(0o711)
        file = Path(folder) / "results"
        plugins = ("-p", "tests.forking", "-p", "tests.results", f"--results={file}")
        code = subprocess.run(
            [sys.executable, "-m", "pytest", *plugins, *args],
            cwd=TESTS.parent,
            env=os.environ | {"TMPDIR": folder},
            check=False,
        ).returncode
        lines = file.read_text().splitlines() if file.exists() else []
    found = [json.loads(line) for line in lines]
    peaks = next((line["peaks_mib"] for line in found if "peaks_mib" in line), [0])
    return Run(code, [Result(**line) for line in found if "name" in line], max(peaks, default=0))


def _memory() -> Path | None:
    """A folder in memory, where there is room: quick tests make files by the ten thousand."""
    if not _MEMORY.is_dir():
        return None
    found = os.statvfs(_MEMORY)
    is_roomy = found.f_bavail * found.f_frsize >= _ROOM
    return _MEMORY if is_roomy and not found.f_flag & os.ST_NOEXEC else None


def run_again(failed: Iterable[Result]) -> int:
    """Run each failed test alone, and tell which are unsteady and which are red.

    A run that tells of neither, such as one that was interrupted, ends all with its code.
    """
    unsteady: list[Result] = []
    red: list[Result] = []
    for first in failed:
        said = first
        for _ in range(TRIES_AGAIN):
            run = run_tests("-p", "no:cacheprovider", "-q", first.name)
            if run.code not in (PASSED, FAILED):
                return run.code
            if run.code == PASSED:
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
