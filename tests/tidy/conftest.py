"""One process judges the sources: what they parse to takes 280 MB and some seconds."""

import pytest

from tests.tidy.tree import python


def pytest_itemcollected(item: pytest.Item) -> None:
    """All in the same worker."""
    item.add_marker(pytest.mark.xdist_group("tidy"))


@pytest.fixture(scope="session", autouse=True)
def _parsed() -> None:
    """Parsed before a test starts threads: two that parse at once end in a SystemError (3.11)."""
    for source in python():
        _ = source.tree
