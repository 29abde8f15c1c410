"""`tillhouse migrate`: bring the schema up to date, or tell the steps of that."""

from typing import Annotated

import typer

from tillhouse.cli import installation as grounds
from tillhouse.cli.kept_backups import keep_before_migration
from tillhouse.cli.output import AsJson, Data, print_result, stderr_console
from tillhouse.cli.running import ended_by_signals
from tillhouse.cli.servers import tell_database
from tillhouse.cli.stopping import run_until_told
from tillhouse.db import migrate as migrations
from tillhouse.db.migrate import Migration


def migrate(
    *,
    plan: Annotated[bool, typer.Option("--plan", help="Only tell what is missing.")] = False,
    backup: Annotated[
        bool, typer.Option("--backup/--no-backup", help="Keep a backup of what it changes.")
    ] = True,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Bring the database's schema up to date."""
    settings = grounds.settings_with(data=data)
    with (
        ended_by_signals() as stop,
        stderr_console().status("Opening the database …") as status,
        grounds.running_database(settings, stop) as installation,
    ):
        tell_database(installation)

        def report(migration: Migration) -> None:
            stderr_console().print(migration.done)

        async def keep() -> None:
            status.update("Backing up …")
            await keep_before_migration(installation)

        async def work() -> list[Migration]:
            connection = await grounds.connect(installation)
            try:
                status.update("Migrating …")
                if plan:
                    return await migrations.plan(connection)
                return await migrations.migrate(connection, report, before=keep if backup else None)
            finally:
                await connection.close()

        found = [migration.label for migration in run_until_told(work(), stop)]
    verb = "Missing" if plan else "Applied"
    shown = f"{verb}: {', '.join(found)}" if found else "The schema is up to date."
    print_result({"pending" if plan else "applied": found}, as_json=as_json, shown=shown)
