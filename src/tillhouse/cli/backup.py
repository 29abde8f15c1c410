"""`tillhouse backup`: the database and its master key in one file, written beside all work."""

from pathlib import Path
from typing import Annotated

import typer

from tillhouse.cli import installation as grounds
from tillhouse.cli.backup_writer import write_backup
from tillhouse.cli.kept_backups import is_due, keep_backup
from tillhouse.cli.output import AsJson, CommandError, Data, print_result
from tillhouse.cli.passphrases import FromStdin, passphrase
from tillhouse.cli.running import ended_by_signals
from tillhouse.cli.servers import tell_database
from tillhouse.cli.stopping import run_until_told
from tillhouse.db.archive import draft_of
from tillhouse.settings import Settings

File = Annotated[
    Path | None,
    typer.Argument(help="The file; without one, it is kept in TILLHOUSE_BACKUP_FOLDER."),
]


def backup(
    file: File = None,
    *,
    if_due: Annotated[
        bool, typer.Option("--if-due", help="Unless the newest is young enough.")
    ] = False,
    passphrase_stdin: FromStdin = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Write the database and its master key into a new file that a passphrase opens."""
    settings = grounds.settings_with(data=data)
    grounds.require_database(settings)
    if file is None:
        _keep(settings, as_json=as_json, if_due=if_due)
        return
    path = file.expanduser().absolute()
    if path.exists():
        raise CommandError(f"{path} exists, and no backup is overwritten: give another name.")
    opener = passphrase(settings, from_stdin=passphrase_stdin, is_new=True)
    with ended_by_signals() as stop:
        stop.at_last(lambda: draft_of(path).unlink(missing_ok=True))
        with grounds.running_database(settings, stop) as installation:
            tell_database(installation)
            done = run_until_told(write_backup(installation, path, opener), stop)
    print_result(done, as_json=as_json, shown=done.sentence)


def _keep(settings: Settings, *, as_json: bool, if_due: bool) -> None:
    if if_due and not is_due(settings):
        print_result({"isDue": False}, as_json=as_json, shown="The newest backup is young enough.")
        return
    with ended_by_signals() as stop, grounds.running_database(settings, stop) as installation:
        tell_database(installation)
        done = run_until_told(keep_backup(installation, if_due=if_due), stop)
    if done is not None:
        print_result(done, as_json=as_json, shown=done.sentence)
