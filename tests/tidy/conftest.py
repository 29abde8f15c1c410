"""The sources are parsed once for all tests of them."""

from collections.abc import Iterator

import pytest

from tests.tidy.tree import forget, python


@pytest.fixture(scope="package", autouse=True)
def _parsed() -> Iterator[None]:
    """Parsed before a test starts threads: two that parse at once end in a SystemError (3.11)."""
    for source in python():
        _ = source.tree
    yield
    forget()
