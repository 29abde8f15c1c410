"""`tillhouse work`: send webhooks, and answer nobody; as many of these as there is work for."""

import asyncio
import contextlib
import signal

from tillhouse.app import App
from tillhouse.cli import installation as grounds
from tillhouse.cli.installation import Installation
from tillhouse.cli.output import Data, stderr_console
from tillhouse.cli.schedule import Schedule
from tillhouse.http import log as logs


def work(*, data: Data = None) -> None:
    """Send webhooks until told to stop; beside `tillhouse serve --no-work`, or with it."""
    settings = grounds.settings_with(data=data)
    logs.set_up(settings.log_level)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        contextlib.suppress(KeyboardInterrupt),
        grounds.running_database(settings) as installation,
        Schedule(settings),
    ):
        asyncio.run(_work(installation))


async def _work(installation: Installation) -> None:
    master_key = await grounds.master_key(installation)
    app = App(installation.settings, installation.database_url, master_key, runs_workers=True)
    await app.start()
    stderr_console().print("Sending webhooks; Ctrl-C stops.")
    try:
        await asyncio.Event().wait()
    finally:
        await app.stop()
