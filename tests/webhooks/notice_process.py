"""A process that mails notices, to be killed.

`python -m tests.webhooks.notice_process DATABASE_URL MASTER_KEY PORT` sends what is
due within five minutes, and ends.
"""

import asyncio
import sys
from datetime import timedelta

from tests.conftest import SETTINGS
from tests.webhooks.mailed import mailing_settings
from tillhouse.access.process import close_services, connect_services
from tillhouse.app import PRODUCT
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.kit.smtp import SmtpServer
from tillhouse.webhooks import mailing


async def main(database_url: str, master_key: str, port: str) -> None:
    """Do all that is due."""
    server = SmtpServer(host="127.0.0.1", port=int(port), security="none")
    settings = mailing_settings(SETTINGS, server)
    services = await connect_services(settings, lambda: PRODUCT.declared, database_url, master_key)
    runner = JobRunner(services.pool, (mailing.kind(services),), services.job_results)
    await runner.run_due(now() + timedelta(minutes=5))
    await close_services(services)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
