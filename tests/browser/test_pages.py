"""The pages of the reference and of the checkout, judged in Chromium: `make pages` by hand."""

import subprocess
import sys

import pytest

from tests.tools import node_module, program

pytestmark = pytest.mark.proof


@pytest.mark.parametrize("module", ["tests.browser", "tests.browser.checkout"])
def test_pages_are_without_fault(module: str) -> None:
    """By axe, wide and narrow, light and dark, by keyboard, and as somebody uses them."""
    program("chromium")
    for name in ("axe-core", "playwright-core"):
        node_module(name)
    done = subprocess.run(
        [sys.executable, "-m", module], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
