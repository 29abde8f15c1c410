"""Faults beside a test, at its end or after it, are told, and nothing is told twice."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.run import FAILED, PASSED, TESTS, Result, Run, run_again, run_tests
from tests.waiting import HUNG_S

SUBTESTS = """
def test_with_subtests(subtests):
    with subtests.test("one"):
        assert 1 == 2, "words of one"
    with subtests.test("two"):
        pass
"""
UNITTEST = """
import unittest


class TestOld(unittest.TestCase):
    def test_with_subtests(self):
        with self.subTest(one=1):
            self.fail("words of one")
"""
ENDS_WELL_AT_THE_END = """
import os

import pytest


@pytest.fixture(scope="session")
def kept():
    yield
    os._exit(0)


def test_that_keeps(kept):
    pass
"""
GARBAGE = """
class Odd:
    def __del__(self):
        raise ValueError("words of garbage")


def test_that_leaves_garbage():
    odd = Odd()
    odd.itself = odd
"""
THREAD = """
import threading

import pytest

LATER = threading.Event()


@pytest.fixture(scope="session", autouse=True)
def kept():
    yield
    LATER.set()
    thread.join()


def fail():
    LATER.wait()
    raise ValueError("words of a thread")


thread = threading.Thread(target=fail, daemon=True)


def test_that_leaves_a_thread():
    thread.start()
"""
HELD = """
import multiprocessing
import threading


def test_that_leaves_a_process():
    multiprocessing.get_context("fork").Process(target=threading.Event().wait, args=(600,)).start()
"""
# Its child holds what it held, the connection to those who hear of it, too.
DIES = """
import os
import signal


def test_that_dies():
    if os.fork() == 0:
        signal.alarm(30)
        signal.pause()
    os._exit(3)
"""


@pytest.mark.parametrize(
    ("toys", "words"),
    [
        (SUBTESTS, "words of one"),
        (UNITTEST, "words of one"),
        (ENDS_WELL_AT_THE_END, "has ended with 0 after it"),
        (GARBAGE, "words of garbage"),
        (THREAD, "words of a thread"),
        pytest.param(HELD, "went on for ever", marks=pytest.mark.proof),
        (DIES, "has ended with 3"),
    ],
    ids=["subtests", "unittest", "exit", "garbage", "thread", "held", "dies"],
)
def test_what_goes_wrong_beside_a_test_is_told(tmp_path: Path, toys: str, words: str) -> None:
    """By the test it belongs to, or by the last of its process."""
    run = _run(tmp_path, toys)
    assert run.code == FAILED
    assert [words in one.said for one in run.failed] == [True]


def test_one_that_dies_at_its_end_keeps_no_other(tmp_path: Path) -> None:
    """All else goes on."""
    for number in range(9):
        (tmp_path / f"test_{number}.py").write_text("def test_more(): pass")
    run = _run(tmp_path, ENDS_WELL_AT_THE_END.replace("_exit(0)", "_exit(3)"))
    assert run.code == FAILED
    assert [one.outcome for one in run.results].count("passed") == 10


def test_a_fork_that_runs_on_tells_nothing(tmp_path: Path) -> None:
    """Each test is told of once."""
    run = _run(tmp_path, "import os\ndef test_one(): os.fork()\ndef test_two(): pass")
    assert run.code == PASSED
    assert [one.name.partition("::")[2] for one in run.results] == ["test_one", "test_two"]


def test_the_first_failure_ends_all_where_that_is_asked_for(tmp_path: Path) -> None:
    """Also in the file that it stands in."""
    toys = "import pytest\n@pytest.mark.parametrize('n', range(2000))\ndef test_it(n): assert n"
    run = _run(tmp_path, toys, "-x")
    assert len(run.results) < 2000


def test_an_end_that_failed_is_red_at_once() -> None:
    """It may be of something that other tests used: alone, the last of them proves nothing."""
    this = "tests/runner/test_ends.py::test_a_fork_that_runs_on_tells_nothing"
    assert run_again([Result(this, "failed", 0.0, "E  words", is_end=True)]) == FAILED


WAITS = """
import signal
import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    yield
    (Path(__file__).parent / "ended").touch()


def test_that_waits(kept):
    (Path(__file__).parent / "begun").touch()
    print("begun", flush=True)
    signal.pause()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_all_as_ctrl_c_does(tmp_path: Path, number: signal.Signals) -> None:
    """Fixtures end, and nothing of the run stays."""
    (tmp_path / "test_toys.py").write_text(WAITS)
    folders = tmp_path / "folders"
    folders.mkdir()
    run = subprocess.Popen(
        [sys.executable, "-m", "tests.run", "proof", "-m", "", "-s", "--processes", "1", tmp_path],
        cwd=TESTS.parent, env=os.environ | {"TMPDIR": str(folders)},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert run.stdout
    assert any("begun" in line for line in run.stdout)
    run.send_signal(number)
    run.communicate(timeout=HUNG_S)
    assert run.returncode == 2
    assert (tmp_path / "ended").exists()
    assert not list(folders.iterdir())


def _run(folder: Path, toys: str, *args: str) -> Run:
    (folder / "test_toys.py").write_text(toys)
    # The rules of this project's tests: what is only a warning elsewhere is an error.
    return run_tests(
        "--processes", "2", "-c", str(TESTS.parent / "pyproject.toml"), *args, str(folder)
    )


def test_the_folder_of_a_killed_run_goes_with_the_next(tmp_path: Path) -> None:
    """One that a run still has stays, and so does what is no run's."""
    for name in ("t-left", "t-held", "t-shirts"):
        (tmp_path / name).mkdir()
    (tmp_path / "t-left" / "tillhouse-tests.lock").touch()
    lock = (tmp_path / "t-held" / "tillhouse-tests.lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    (tmp_path / "test_one.py").write_text("def test_one():\n    pass\n")
    for _ in range(2):
        run = run_tests(str(tmp_path / "test_one.py"), above=tmp_path)
        assert [one.outcome for one in run.results] == ["passed"]
        assert {one.name for one in tmp_path.glob("t-*")} == {"t-held", "t-shirts"}
    lock.close()
