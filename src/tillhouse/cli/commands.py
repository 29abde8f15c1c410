"""The table of commands, and how each one ends: well, or with a sentence."""

import sys
from typing import Annotated

import asyncpg
import typer

from tillhouse import __version__
from tillhouse.cli import (
    business,
    demo,
    docs,
    doctor,
    imports,
    keys,
    listen,
    migrate,
    serve,
    trigger,
    user,
    verify,
    work,
)
from tillhouse.cli.output import CommandError
from tillhouse.db.cluster import EmbeddedError
from tillhouse.db.migrate import MigrationError
from tillhouse.kit.errors import Problem
from tillhouse.settings import SettingError

_SENTENCES = (CommandError, SettingError, EmbeddedError, MigrationError, Problem)


def main() -> int:
    """Run the command line; the exit code."""
    try:
        _commands()()
    except _SENTENCES as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        sys.stderr.write(f"The database or the system failed ({error}): try again.\n")
        return 1
    return 0


def _commands() -> typer.Typer:
    app = typer.Typer(
        name="tillhouse",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_begin)
    app.command()(serve.serve)
    app.command()(work.work)
    app.command()(demo.demo)
    app.command()(listen.listen)
    app.command()(trigger.trigger)
    app.command()(migrate.migrate)
    app.command()(doctor.doctor)
    app.command()(verify.verify)
    app.add_typer(business.commands(), name="business")
    app.add_typer(user.commands(), name="user")
    app.add_typer(keys.commands(), name="keys")
    app.add_typer(imports.commands(), name="import")
    app.command(hidden=True)(docs.docs)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"tillhouse {__version__}\n")
        raise typer.Exit


def _begin(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Tillhouse, the business platform that a business hosts itself."""
