"""Generators of clients take the API document, and vendors' own clients our simulators."""

import pytest

from tests.tools import program, run_judge

pytestmark = pytest.mark.proof


@pytest.mark.parametrize("module", ["judges", "judges.vendors"])
def test_others_agree(module: str) -> None:
    """They are installed anew, and none warns or disagrees."""
    for name in ("node", "npm"):
        program(name)
    run_judge(module)
