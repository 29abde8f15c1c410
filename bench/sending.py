"""A process that only sends webhooks; tells at its end how many statements that took."""

import asyncio
import os
import sys

import uvloop

from tillhouse.app import App
from tillhouse.settings import from_env
from tillhouse.webhooks.sender.worker import Sender


async def main() -> None:
    """Send until standard input ends."""
    settings = from_env({k: v for k, v in os.environ.items() if k.startswith("TILLHOUSE_")})
    assert settings.database_url
    assert settings.master_key
    app = App(settings, settings.database_url, settings.master_key, runs_workers=True)
    services = await app.start()
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        # The sender has connections of its own; the rest of the process does next to nothing.
        sender = next(one for one in app.services.workers.running if isinstance(one, Sender))
        print(services.pool.statements + sender.services.pool.statements, flush=True)
    await app.stop()


if __name__ == "__main__":
    uvloop.run(main())
