"""The statement that keeps the webhook log in weeks."""

from datetime import datetime

from tillhouse.db.pool import Db


async def turn_partitions(db: Db, now: datetime, keep_days: int) -> int:
    """Make the coming weeks' partitions and drop those too old to keep; how many were dropped.

    Where somebody else reads the tables for long, such as a backup, it fails at once: all that
    write events would wait behind it.
    """
    await db.fetchval("SELECT set_config('lock_timeout', '100ms', true)")
    return await db.fetchval("SELECT turn_webhook_partitions($1, $2)", now, keep_days)
