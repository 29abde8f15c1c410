"""Processes that do nothing but send webhooks, to be killed.

`python -m tests.webhooks.sender_processes DATABASE_URL MASTER_KEY_FILE CA_FILE` forks one for each
line of its standard input, so that all but the first start at once; each writes its process id once
it sends. Leases last a second: what one held when it was killed is soon sent by the next.
"""

import asyncio
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

from tillhouse.access.process import connect_services
from tillhouse.app import PRODUCT
from tillhouse.settings import from_env
from tillhouse.webhooks.sender.worker import Sender


async def main(database_url: str, master_key_file: str, ca_file: str) -> None:
    """Send until killed."""
    settings = from_env(
        {
            "TILLHOUSE_WEBHOOK_ALLOW_TARGETS": "127.0.0.1",
            "TILLHOUSE_WEBHOOK_CA_FILE": ca_file,
            "TILLHOUSE_WEBHOOK_RETRY_BASE_S": "0.02",
            "TILLHOUSE_WEBHOOK_RETRY_FACTOR": "1",
            "TILLHOUSE_LOG_LEVEL": "error",
        }
    )
    master_key = Path(master_key_file).read_text(encoding="ascii")
    services = await connect_services(settings, lambda: PRODUCT.declared, database_url, master_key)
    services.pool.notifier.start(services.pool.dedicated, services.pool.notify, listens=True)
    Sender(services, lease=timedelta(seconds=1)).start()
    sys.stdout.write(f"{os.getpid()}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    # Nobody waits for the children: the kernel buries them.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in sys.stdin:
        if os.fork() == 0:
            asyncio.run(main(*sys.argv[1:4]))
