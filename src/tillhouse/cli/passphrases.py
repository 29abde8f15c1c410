"""Passphrases of backups: from a setting, a pipe or a prompt, never from the command line."""

import sys
from typing import Annotated

import typer

from tillhouse.cli.output import CommandError, stderr_console
from tillhouse.db.archive import Passphrase
from tillhouse.settings import PASSPHRASE_LENGTH_MIN, Settings

FromStdin = Annotated[
    bool, typer.Option("--passphrase-stdin", help="Read the passphrase from a pipe.")
]


def passphrase(settings: Settings, *, from_stdin: bool, is_new: bool) -> Passphrase:
    """The passphrase; a new one is asked for twice."""
    if from_stdin:
        text = sys.stdin.readline().rstrip("\r\n")
    elif settings.backup_passphrase is not None:
        text = settings.backup_passphrase
    else:
        text = _asked_for(is_new=is_new)
    if is_new and len(text) < PASSPHRASE_LENGTH_MIN:
        raise CommandError(
            f"The passphrase has {len(text)} characters: take {PASSPHRASE_LENGTH_MIN} or more, "
            "such as five words drawn at random."
        )
    return Passphrase(text)


def _asked_for(*, is_new: bool) -> str:
    if not sys.stdin.isatty():
        raise CommandError(
            "There is nobody to ask for the passphrase: set TILLHOUSE_BACKUP_PASSPHRASE or "
            "TILLHOUSE_BACKUP_PASSPHRASE_FILE, or pipe it to --passphrase-stdin."
        )
    console = stderr_console()
    text = console.input("Passphrase of the backup: ", password=True)
    if is_new and console.input("Again: ", password=True) != text:
        raise CommandError("The two passphrases differ: try again.")
    return text
