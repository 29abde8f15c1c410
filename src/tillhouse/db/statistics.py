"""The planner's statistics, kept in step with tables that grow.

See `analyze_what_grew` in the migrations. A busy process looks every second, an idle one never:
the process that makes tables grow is the one that notices.
"""

import asyncio
import contextlib

from tillhouse.db.pool import FAILURES, Pool
from tillhouse.kit.errors import Unavailable

EVERY_S = 1.0
# Fewer statements in a second than this make nothing grow that would matter.
BUSY_FROM = 50


async def watch(pool: Pool) -> None:
    """Look after each busy second, until cancelled."""
    seen = pool.statements
    while True:
        await asyncio.sleep(EVERY_S)
        if pool.statements - seen >= BUSY_FROM:
            with contextlib.suppress(Unavailable, *FAILURES):
                await analyze(pool)
        seen = pool.statements


async def analyze(pool: Pool) -> int:
    """Look over tables that have grown, some at a time; how many. A chore: it isn't counted."""
    connection = await pool.acquire()
    try:
        return await connection.fetchval("SELECT analyze_what_grew()")
    finally:
        await pool.release(connection)
