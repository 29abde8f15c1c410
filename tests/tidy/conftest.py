"""The sources are parsed once for all tests of them."""

import pytest

from tests.tidy.tree import python


@pytest.fixture(scope="session", autouse=True)
def _parsed() -> None:
    """Parsed before a test starts threads: two that parse at once end in a SystemError (3.11)."""
    for source in python():
        _ = source.tree
