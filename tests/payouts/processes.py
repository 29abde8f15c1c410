"""A process that pays refunds out through the sandbox, to be killed.

`python -m tests.payouts.processes DATABASE_URL MASTER_KEY` does it once, and ends.
"""

import asyncio
import sys
from datetime import timedelta

from tests.conftest import SETTINGS
from tillhouse.access.process import close_services, connect_services
from tillhouse.app import PRODUCT
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.payouts.room import kinds


async def main(database_url: str, master_key: str) -> None:
    """Do all that is due."""
    services = await connect_services(SETTINGS, lambda: PRODUCT.declared, database_url, master_key)
    runner = JobRunner(services.pool, kinds(services), services.job_results)
    await runner.run_due(now() + timedelta(seconds=2))
    await close_services(services)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
