"""A plugin of pytest: which tests run in one process, and which come last.

Tests of a file share what is made for it. Those of generated requests are many and small, so they
come last, one by one: no process is left with a long file when the others are done. With
`--dist load` each test goes where there is room, as in the proof, whose files take minutes.
"""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling, Scheduling

_SMALL = "tests/contract/"
# The sources are parsed once for all of its files, which takes 280 MB and some seconds.
_TOGETHER = "tests/tidy/"


class Scheduler(LoadScopeScheduling):
    """Hands out units of tests, each to one process."""

    def _split_scope(self, nodeid: str) -> str:
        """The unit of a test."""
        if nodeid.startswith(_TOGETHER):
            return _TOGETHER
        is_by_file = self.config.getoption("dist") == "loadfile"
        if nodeid.startswith(_SMALL) or not is_by_file:
            return nodeid
        return nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Units in the order in which their tests were found."""
    config.option.loadscopereorder = False
    return Scheduler(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The small ones last."""
    items.sort(key=lambda item: item.nodeid.startswith(_SMALL))
