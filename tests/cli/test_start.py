"""A command starts light: it imports what it needs, and the table of commands is true."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from tests.cli.command import Command, environment
from tests.waiting import HUNG_S
from tillhouse.cli.commands import TABLE

_IMPORTED = re.compile(r"^import time: +\d+ \| +\d+ \| +([\w.]+)$", re.MULTILINE)
# Modules that serve, store, seal, send and draw: none of them helps to choose a command.
HEAVY = {
    "aiohttp", "argon2", "asyncpg", "cryptography", "fpdf", "jinja2", "msgspec", "phonenumbers",
    "prometheus_client", "structlog", "uvicorn", "uvloop",
}  # fmt: skip
# Modules that only answer requests and send webhooks.
OF_SERVERS = {"aiohttp", "fpdf", "jinja2", "prometheus_client", "uvicorn", "uvloop"}


def imported_by(*args: str) -> set[str]:
    """The modules that a command imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tillhouse", *args],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=HUNG_S,
    )
    found = set(_IMPORTED.findall(done.stderr))
    assert "tillhouse.cli.commands" in found
    return found


def packages(modules: set[str]) -> set[str]:
    """The packages that modules belong to."""
    return {module.partition(".")[0] for module in modules}


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_help_and_version_load_no_command(flag: str) -> None:
    """Of ours only the table is imported, and nothing heavy of others."""
    found = imported_by(flag)
    assert packages(found) & HEAVY == set()
    ours = {module for module in found if module.startswith("tillhouse")}
    assert ours == {"tillhouse", "tillhouse.cli", "tillhouse.cli.commands"}


@pytest.mark.parametrize("name", sorted(TABLE.keys() - {"serve", "work", "listen", "call"}))
def test_a_command_that_serves_nobody_loads_no_server(name: str) -> None:
    """Neither the application with its routes nor the libraries that only it uses."""
    found = imported_by(name, "--help")
    assert packages(found) & OF_SERVERS == set()
    assert "tillhouse.app" not in found
    assert "tillhouse.cli.installation" in found


def test_calling_a_softphone_needs_no_installation() -> None:
    """No server, no database and no settings: only the telephone."""
    found = imported_by("call", "--help")
    assert packages(found) & (OF_SERVERS | {"asyncpg"}) == set()
    assert "tillhouse.cli.call_talk" in found


@pytest.mark.parametrize("name", TABLE)
def test_the_table_says_what_the_command_says(name: str) -> None:
    """Each stands where the table says, under its name, with its own first sentence."""
    entry = TABLE[name]
    own = typer.main.get_command(entry.load(name)).help
    assert own is not None
    assert " ".join(own.split("\n\n")[0].split()) == entry.about


def test_a_command_is_asked_for_its_own_help(tmp_path: Path) -> None:
    """Help, usage errors and near misses are those of the command itself."""
    command = Command(tmp_path)
    told = command.run("keys", "--help").stdout
    assert "rewrap" in told
    assert "keys list" in command.refusal("keys", "list", "x", code=2)
    assert "'serve'" in command.refusal("serv", code=2)
