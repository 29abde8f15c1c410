"""The short form of `make chaos`."""

from pathlib import Path

from tests.system.chaos import chaos
from tests.system.serving import kept_port, report


async def test_nothing_is_lost_whatever_is_killed(tmp_path: Path) -> None:
    """Every acknowledged event is written once, received, and delivered."""
    with kept_port() as port:
        found = await chaos(tmp_path, port, kills=6, seed=7)
    report(str(found))
    assert found.acknowledged > 0
    assert (found.lost, found.undelivered) == (0, 0), found
    assert found.events == found.acknowledged, found
