"""`tillhouse work`: webhooks, jobs and calls without requests; as many of these as are needed."""

import asyncio
import contextlib

import msgspec
import structlog

from tillhouse.app import App
from tillhouse.cli import installation as grounds
from tillhouse.cli.background import Schedule
from tillhouse.cli.child import end_children
from tillhouse.cli.child_process import child_order
from tillhouse.cli.installation import Installation
from tillhouse.cli.output import Data, stderr_console, tolerate_full_disks
from tillhouse.cli.processes import voice_child
from tillhouse.cli.sentences import told_in_the_log
from tillhouse.cli.stopping import Stop, run_until_told
from tillhouse.db.connecting import AWAY, DATABASE_HEALTH, connect_alone
from tillhouse.db.migrate import plan
from tillhouse.http import log as logs

AGAIN_S = 1.0

log = structlog.get_logger()


@told_in_the_log()
def work(*, data: Data = None) -> None:
    """Send webhooks, run jobs, make calls until told to stop, beside `tillhouse serve`."""
    settings = grounds.settings_with(data=data)
    grounds.require_database(settings)
    tolerate_full_disks()
    logs.set_up(settings.log_level)
    schedule = Schedule(settings)
    stop = Stop()
    stop.at_last(end_children)
    stop.at_last(schedule.end_backup)
    stop.install()
    with (
        contextlib.suppress(KeyboardInterrupt),
        grounds.running_database(settings, stop) as installation,
        schedule,
    ):
        try:
            run_until_told(_work(installation), stop, stop.limit.start)
        finally:
            stop.limit.cancel()


async def _work(installation: Installation) -> None:
    await _until_migrated(installation.database_url)
    app = await _started(installation, await grounds.master_key(installation))
    if (console := stderr_console()).is_terminal:
        console.print("Sending webhooks; Ctrl-C stops.")
    else:
        log.info("working")
    try:
        await asyncio.Event().wait()
    finally:
        await app.stop()


async def _until_migrated(url: str) -> None:
    """Wait until the database has the schema of this release; a newer one is refused."""
    is_told = False
    while True:
        try:
            connection = await connect_alone(url)
            try:
                missing = await plan(connection)
            finally:
                await connection.close()
        except AWAY as error:
            DATABASE_HEALTH.note_away(error)
        else:
            DATABASE_HEALTH.note_connected(is_new=True)
            if not missing:
                return
            if not is_told:
                log.warning(
                    "database_not_migrated",
                    missing=len(missing),
                    message="Run `tillhouse migrate`: this waits for it.",
                )
                is_told = True
        await asyncio.sleep(AGAIN_S)


async def _started(installation: Installation, master_key: str) -> App:
    """The application; while the database is away, there is nothing to send, and this waits."""
    while True:
        # No request waits here for a processor.
        settings = msgspec.structs.replace(installation.settings, webhook_rate=0)
        beside = child_order(
            {"data": installation.settings.data}, installation.database_url, master_key
        )
        app = App(
            settings,
            installation.database_url,
            master_key,
            runs_workers=True,
            apart=voice_child(beside),
        )
        try:
            await app.start()
        except AWAY as error:
            DATABASE_HEALTH.note_away(error)
            with contextlib.suppress(*AWAY):
                await app.stop()
            await asyncio.sleep(AGAIN_S)
        else:
            return app
