"""How a command runs: on its installation, with services, inside one event loop."""

import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import msgspec
import typer

from tillhouse.access.process import Services
from tillhouse.cli import installation as grounds
from tillhouse.cli.output import stderr_console
from tillhouse.cli.servers import address_of, tell_database
from tillhouse.cli.stopping import Stop, run_until_told
from tillhouse.http import log as logs

T = TypeVar("T")


@contextmanager
def ended_by_signals() -> Iterator[Stop]:
    """Hear signals in a command that ends by itself.

    One that is ended before says so in a line, and by the exit code that shells give to the signal.
    """
    stop = Stop()
    stop.install()
    try:
        yield stop
    except KeyboardInterrupt:
        number = stop.number or signal.SIGINT
        name = "Ctrl-C" if number == signal.SIGINT else number.name
        # The terminal may be gone.
        with suppress(OSError):
            os.write(2, f"Stopped by {name}.\n".encode())
        raise typer.Exit(128 + number) from None


def run(work: Callable[[Services], Awaitable[T]], data: Path | None) -> T:
    """Do the work with services that are opened for it."""
    # Standard output is for the result alone.
    logs.set_up("warning")
    settings = grounds.settings_with(data=data)
    grounds.require_database(settings)
    with (
        ended_by_signals() as stop,
        stderr_console().status("Opening the database …") as status,
        grounds.running_database(settings, stop) as installation,
    ):
        tell_database(installation)

        async def run_with_services() -> T:
            async with grounds.open_services(_as_served(installation)) as services:
                status.stop()
                return await work(services)

        return run_until_told(run_with_services(), stop)


def _as_served(installation: grounds.Installation) -> grounds.Installation:
    """With the public address of the server that runs: its flags may have named another port."""
    address = address_of(installation)
    if address is None:
        return installation
    settings = msgspec.structs.replace(installation.settings, public_url=address)
    return msgspec.structs.replace(installation, settings=settings)
