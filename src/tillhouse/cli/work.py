"""`tillhouse work`: send webhooks, and answer nobody; as many of these as there is work for."""

import asyncio
import contextlib
import signal

from tillhouse.app import App
from tillhouse.cli import installation as grounds
from tillhouse.cli.installation import Ground
from tillhouse.cli.output import Data, people
from tillhouse.http import log as logs


def work(*, data: Data = None) -> None:
    """Send webhooks until told to stop; beside `tillhouse serve --no-work`, or with it."""
    settings = grounds.settings_with(data=data)
    logs.set_up(settings.log_level)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt), grounds.standing(settings) as ground:
        asyncio.run(_work(ground))


async def _work(ground: Ground) -> None:
    master_key = await grounds.master_key(ground)
    app = App(ground.settings, ground.database_url, master_key, works=True)
    await app.start()
    people().print("Sending webhooks; Ctrl-C stops.")
    try:
        await asyncio.Event().wait()
    finally:
        await app.stop()
