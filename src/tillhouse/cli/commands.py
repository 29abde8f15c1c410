"""The table of commands, and how each one ends: well, or with a sentence.

A command's module is imported when the command is called: most need half of the
product, and a call for help or the version would wait for all of it.
"""

import gc
import sys
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from tillhouse import __version__


class CommandEntry(NamedTuple):
    """Where a command stands, and the sentence about it in the list of commands."""

    module: str
    about: str

    def load(self, name: str) -> typer.Typer:
        """The command, or the group of commands if the module has one."""
        # Modules never become garbage: looking through them is a tenth of the time to load them.
        gc.disable()
        module = import_module(f"tillhouse.cli.{self.module}")
        gc.enable()
        if hasattr(module, "commands"):
            return module.commands()
        alone = typer.Typer(add_completion=False)
        alone.command(name)(getattr(module, name))
        return alone


# The sentences are the ones that the commands say of themselves; a test compares them.
TABLE = {
    "serve": CommandEntry(
        "serve", "Serve the API; without TILLHOUSE_DATABASE_URL, with a database of its own."
    ),
    "work": CommandEntry(
        "work", "Send webhooks, run jobs, make calls until told to stop, beside `tillhouse serve`."
    ),
    "demo": CommandEntry(
        "demo", "Make the demo business, or find it again, and tell its password and keys."
    ),
    "listen": CommandEntry(
        "listen",
        "Print the events of a business as they happen; with --forward-to, deliver them here.",
    ),
    "trigger": CommandEntry(
        "trigger",
        "Let an event happen in the test environment; a running server sends it to its endpoints.",
    ),
    "call": CommandEntry(
        "call",
        "Call a softphone by its sip: address: it rings, you hear a voice, and it hears your keys.",
    ),
    "migrate": CommandEntry("migrate", "Bring the database's schema up to date."),
    "doctor": CommandEntry(
        "doctor",
        "Tell what is set, what is unsafe and what is broken; exit code 1 when something is.",
    ),
    "verify": CommandEntry(
        "verify",
        "Check every business's audit chain and ledger; exit code 1 when something is wrong.",
    ),
    "reconcile": CommandEntry(
        "reconcile",
        "Hold the books against providers, orders and links; exit code 1 when something differs.",
    ),
    "backup": CommandEntry(
        "backup",
        "Write the database and its master key into a new file that a passphrase opens.",
    ),
    "restore": CommandEntry(
        "restore", "Bring a backup into a new data folder or an empty database, and verify it."
    ),
    "business": CommandEntry("business", "The businesses of this installation."),
    "user": CommandEntry("user", "The people of a business."),
    "keys": CommandEntry("keys", "API keys and the master key."),
    "providers": CommandEntry("providers", "The payment providers of a business."),
    "import": CommandEntry("imports", "Bring what you have, from files."),
}


class _Later(TyperCommand):
    """Stands in the list for a command, and fetches it when it is called."""

    def __init__(self, name: str, entry: CommandEntry) -> None:
        super().__init__(name, help=entry.about)
        self._fetch = lambda: typer.main.get_command(entry.load(name))

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Delegate to the loaded command."""
        return self._fetch().make_context(info_name, args, parent, **extra)


class _Commands(TyperGroup):
    """All of the table."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for name, entry in TABLE.items():
            self.add_command(_Later(name, entry))


def main() -> int:
    """Run the command line; the exit code."""
    try:
        _app()()
    except Exception as error:
        sentence = import_module("tillhouse.cli.sentences").sentence_for(error)
        if sentence is None:
            raise
        sys.stderr.write(f"{sentence}\n")
        return 1
    return 0


def _app() -> typer.Typer:
    app = typer.Typer(
        name="tillhouse",
        cls=_Commands,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_begin)
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
