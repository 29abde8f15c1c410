"""Generators of clients take the API document, and vendors' own clients our simulators."""

import subprocess
import sys

import pytest

from tests.tools import program

pytestmark = pytest.mark.proof


@pytest.mark.parametrize("module", ["judges", "judges.vendors"])
def test_others_agree(module: str) -> None:
    """They are installed anew, and none warns or disagrees."""
    for name in ("node", "npm"):
        program(name)
    done = subprocess.run(
        [sys.executable, "-m", module], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
