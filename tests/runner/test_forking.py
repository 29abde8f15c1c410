"""The processes that run tests tell how each ended, also when one of them dies."""

from pathlib import Path

from tests.run import FAILED, run_tests
from tests.waiting import HUNG_S

TOYS = """
import os

import pytest


@pytest.fixture(scope="session")
def kept():
    yield
    raise RuntimeError("the end of the session")


def test_that_is_right():
    pass


def test_that_is_wrong():
    assert os.getpid() == 0


def test_that_ends_its_process():
    os._exit(3)


@pytest.mark.skip(reason="for a reason")
def test_that_is_skipped():
    pass


def test_that_writes():
    print("written")
    assert not os


def test_at_whose_end_all_else_ends(kept):
    pass
"""
PROCESSES = """
import os
from pathlib import Path


def test_first():
    with (Path(__file__).parent / "processes").open("a") as file:
        file.write(f"{os.getpid()} ")


test_second = test_first
"""
MORE = "\n".join(f"def test_{number}(): pass" for number in range(40))


def test_each_test_is_told_of_once_with_its_end(tmp_path: Path) -> None:
    """Also where a process has died, and where the end of what all have set up goes wrong."""
    (tmp_path / "test_more.py").write_text(MORE)
    (tmp_path / "test_toys.py").write_text(TOYS)
    run = run_tests("--processes", "2", str(tmp_path))
    assert run.code == FAILED
    said = {one.name.partition("::")[2]: one.said for one in run.failed}
    assert said.keys() == {
        "test_that_is_wrong",
        "test_that_ends_its_process",
        "test_that_writes",
        "test_at_whose_end_all_else_ends",
    }
    assert "== 0" in said["test_that_is_wrong"]
    assert "has ended with 3" in said["test_that_ends_its_process"]
    assert "the end of the session" in said["test_at_whose_end_all_else_ends"]
    outcomes = [one.outcome for one in run.results]
    assert outcomes.count("passed") == 40 + 2
    assert outcomes.count("skipped") == 1
    assert run.peak_mib > 0


def test_a_process_that_took_much_memory_is_replaced(tmp_path: Path) -> None:
    """After the file that it is at: each file here has a process of its own."""
    for number in range(3):
        (tmp_path / f"test_{number}.py").write_text(PROCESSES)
    run = run_tests("--processes", "1", "--memory-mib", "1", str(tmp_path))
    assert [one.outcome for one in run.results] == ["passed"] * 6
    told = (tmp_path / "processes").read_text().split()
    assert len(told) == 6
    assert len(set(told)) == 3


def test_tests_go_where_there_is_room(tmp_path: Path) -> None:
    """One by one, no process keeps a test of another file waiting while it is at a long one."""
    (tmp_path / "test_first.py").write_text(_waiting("first", "second"))
    (tmp_path / "test_second.py").write_text(_waiting("second", "first"))
    run = run_tests("--processes", "2", "--one-by-one", str(tmp_path))
    assert [one.outcome for one in run.results] == ["passed", "passed"]


def _waiting(sets: str, waits_for: str) -> str:
    """A test that is over when another has begun."""
    return f"""
import time
from pathlib import Path

HERE = Path(__file__).parent


def test_of_two():
    (HERE / "{sets}").touch()
    hung_at = time.monotonic() + {HUNG_S}
    while not (HERE / "{waits_for}").exists():
        assert time.monotonic() < hung_at
"""
