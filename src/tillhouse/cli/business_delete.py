"""`tillhouse business delete`: all that a business has, gone for good."""

import select
import signal
import socket
import sys
from typing import Annotated
from uuid import UUID

import typer

from tillhouse.cli import given
from tillhouse.cli import installation as grounds
from tillhouse.cli.installation import Installation
from tillhouse.cli.output import (
    AsJson,
    CommandError,
    Data,
    NoBusiness,
    print_result,
    stderr_console,
)
from tillhouse.cli.running import ended_by_signals
from tillhouse.cli.servers import tell_database
from tillhouse.cli.stopping import Stop, run_until_told
from tillhouse.db.backup import SESSION
from tillhouse.db.removal import delete_business, find_name

Typed = Annotated[
    str | None, typer.Option("--name", help="Its name, typed in full; asked for when left out.")
]


def delete(
    business: Annotated[str, typer.Argument(help="Id of the business.")],
    *,
    name: Typed = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Delete a business with its orders, money, keys and audit log; only a backup has it then."""
    business_id = given.id_of("BUSINESS", business)
    settings = grounds.settings_with(data=data)
    grounds.require_database(settings)
    with ended_by_signals() as stop, grounds.running_database(settings, stop) as installation:
        tell_database(installation)
        found = run_until_told(_find_name(installation, business_id), stop)
        if (name if name is not None else _typed(found, stop)) != found:
            raise CommandError(f"The business is called {found}: nothing was deleted.")
        rows = run_until_told(_delete(installation, business_id), stop)
    shown = f"Deleted {found} with {rows:,} rows."
    print_result({"businessId": business_id, "name": found, "rows": rows}, as_json=as_json,
                 shown=shown)  # fmt: skip


async def _find_name(installation: Installation, business_id: UUID) -> str:
    connection = await grounds.connect(installation, SESSION)
    try:
        await grounds.require_migrated(connection)
        name = await find_name(connection, business_id)
    finally:
        await connection.close()
    if name is None:
        raise NoBusiness(business_id)
    return name


async def _delete(installation: Installation, business_id: UUID) -> int:
    connection = await grounds.connect(installation, SESSION)
    try:
        return await delete_business(connection, business_id)
    finally:
        await connection.close()


def _typed(name: str, stop: Stop) -> str:
    if not sys.stdin.isatty():
        raise CommandError("There is nobody to ask: type the name of the business as --name.")
    console = stderr_console()
    console.print(f"Everything of {name} is deleted: orders, money, keys and audit log.")
    console.print("Type its name: ", end="")
    # A signal ends the question itself, which awaits nothing.
    with stop.leaving_by(_interrupt):
        _wait_for_a_line()
        return sys.stdin.readline().removesuffix("\n")


def _wait_for_a_line() -> None:
    """Wait for standard input or a signal; one just before a read would not end the read."""
    heard, told = socket.socketpair()
    with heard, told:
        told.setblocking(False)
        before = signal.set_wakeup_fd(told.fileno())
        try:
            select.select([sys.stdin, heard], [], [])
        finally:
            signal.set_wakeup_fd(before)


def _interrupt() -> None:
    raise KeyboardInterrupt
