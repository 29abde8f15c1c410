"""A process that records and applies what the sandbox tells, to be killed.

`python -m tests.payins.processes DATABASE_URL MASTER_KEY` runs the jobs of payments once, and ends.
"""

import asyncio
import sys
from datetime import timedelta

from tests.conftest import SETTINGS
from tillhouse.access.process import close_services, connect_services
from tillhouse.app import PRODUCT
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, Kind, LocalKind
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.ledger.rules import Ledger
from tillhouse.payins.applying import deposit_to_wallet, job_kind, mark_applied, take
from tillhouse.payins.jobs import kinds

TARGET = "topped_up"


async def apply(db: Db, job: Job) -> bool:
    """Take each payment as a top-up of the wallet."""
    for payin in await take(db, job.book_id, TARGET, job.subject_id):
        ledger = Ledger(job.book_id, payin.currency, now())
        transaction_id = await deposit_to_wallet(db, ledger, payin)
        await mark_applied(db, payin, now(), transaction_id=transaction_id)
    return False


APPLY: Kind = LocalKind(name=job_kind(TARGET), run=apply)


async def main(database_url: str, master_key: str) -> None:
    """Do all that is due."""
    services = await connect_services(SETTINGS, lambda: PRODUCT.declared, database_url, master_key)
    runner = JobRunner(services.pool, [*kinds(services), APPLY], services.job_results)
    await runner.run_due(now() + timedelta(seconds=2))
    await close_services(services)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
