"""The planner's statistics, kept in step with tables that grow.

See `analyze_what_grew` in the migrations. A busy process looks every second, an idle one never:
the process that makes tables grow is the one that notices.
"""

from tillhouse.db.pool import Pool

EVERY_S = 1.0
# Fewer statements in a second than this make nothing grow that would matter.
BUSY_FROM = 50


class BusySeconds:
    """Notices busy seconds of this process."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._seen = pool.statements

    async def look(self) -> bool:
        """Analyse tables that grew, if the time since the last look was busy."""
        is_busy = self._pool.statements - self._seen >= BUSY_FROM
        try:
            if is_busy:
                await analyze(self._pool)
        finally:
            self._seen = self._pool.statements
        return False


async def analyze(pool: Pool) -> int:
    """Look over tables that have grown, some at a time; how many. A chore: it isn't counted."""
    connection = await pool.acquire()
    try:
        return await connection.fetchval("SELECT analyze_what_grew()") or 0
    finally:
        await pool.release(connection)
