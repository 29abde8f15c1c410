"""The short form of `make chaos`."""

import socket
from pathlib import Path

from tests.system.chaos import chaos
from tests.system.serving import report


async def test_nothing_is_lost_whatever_is_killed(tmp_path: Path) -> None:
    """Every acknowledged event is written once, received, and delivered."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    found = await chaos(tmp_path, port, kills=6, seed=7)
    report(str(found))
    assert found.acknowledged > 0
    assert (found.lost, found.undelivered) == (0, 0), found
    assert found.events == found.acknowledged, found
