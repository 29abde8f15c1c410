"""One data folder for the session, its server kept up so that each run is quick."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Command
from tillhouse.db.embedded import Embedded


class Bench(Command):
    """`python -m bench` on one data folder."""

    program = (sys.executable, "-m", "bench")


@pytest.fixture(scope="session")
def embedded() -> Iterator[Embedded]:
    """The server of the session's data folder."""
    with tempfile.TemporaryDirectory(prefix="tillhouse-filling-") as folder:
        server = Embedded.start(Path(folder) / "data")
        yield server
        server.release()


@pytest.fixture(scope="session")
def command(embedded: Embedded) -> Command:
    """The product's command on the database."""
    return Command(embedded._data)


@pytest.fixture(scope="session")
def bench(command: Command) -> Bench:
    """The benchmarks' command on the same database, brought up to date."""
    command.run("migrate")
    return Bench(command.data)
