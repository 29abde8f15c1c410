"""One data folder for the session, its server kept up so that each command is quick."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Command
from tillhouse.db.embedded import Embedded


@pytest.fixture(scope="session")
def embedded() -> Iterator[Embedded]:
    """The server of the session's data folder."""
    with tempfile.TemporaryDirectory(prefix="tillhouse-cli-") as folder:
        server = Embedded.start(Path(folder) / "data")
        yield server
        server.release()


@pytest.fixture(scope="session")
def command(embedded: Embedded) -> Command:
    """The command on a migrated database."""
    made = Command(embedded._data)
    made.run("migrate")
    return made


@pytest.fixture(scope="session")
def business(command: Command) -> str:
    """The id of a business whose owner is ada@example.com."""
    made = command.json(
        "business", "create", "--name", "Ada's", "--owner-name", "Ada Owner", "--email",
        "ada@example.com", "--type", "hotel", "--currency", "NGN", "--password-stdin",
        pipe="correct horse battery\n",
    )  # fmt: skip
    return made["businessId"]
