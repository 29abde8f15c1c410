"""Each table is kept, or something deletes its rows: a new one has to decide."""

import asyncpg

from tests.composition.toys import TOYS
from tests.sweeping import JOB
from tests.tidy import ground
from tests.tidy.tree import tidy
from tillhouse.app import App, chores_of, compose

PRODUCT = compose(TOYS)
KEPT = {*ground.KEPT, *(table for room in PRODUCT.rooms for table in room.kept_tables)}
SWEPT = {table: sweeper for table, (_, sweeper) in ground.SWEPT.items()} | {
    table: sweeper for room in PRODUCT.rooms for table, sweeper in room.swept_tables.items()
}
TABLES = """
    SELECT c.relname FROM pg_class c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
        AND NOT c.relispartition
"""
# Tables, and those whose partitions, this transaction has begun to write or to drop.
WRITTEN = """
    SELECT DISTINCT coalesce(p.relname, c.relname) FROM pg_locks l
    JOIN pg_class c ON c.oid = l.relation
    LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
    WHERE l.pid = pg_backend_pid() AND l.mode IN ('RowExclusiveLock', 'AccessExclusiveLock')
"""


async def test_every_table_is_kept_or_swept(toys_url: str) -> None:
    """Not both, and none is forgotten."""
    connection = await asyncpg.connect(toys_url)
    tables = {row["relname"] for row in await connection.fetch(TABLES)}
    await connection.close()
    found = [f"{table} is in neither" for table in tables - KEPT - SWEPT.keys()]
    found += [f"{table} is in both" for table in KEPT & SWEPT.keys()]
    found += [f"{table} is no table" for table in (KEPT | SWEPT.keys()) - tables]
    tidy(
        "A table is one of the `kept_tables` of its room, if it grows with its business alone, or "
        "of `swept_tables`, with the chore that deletes what is of no more use.",
        found,
    )


async def test_every_sweeper_sweeps(toy_app: App) -> None:
    """A chore that is named for a table deletes from it; a worker that is named runs."""
    services = toy_app.services
    chores = {chore.name: chore for chore in chores_of(PRODUCT, services)}
    workers = services.workers.ages()
    found: list[str] = []
    for sweeper in sorted(set(SWEPT.values())):
        wanted = {table for table, named in SWEPT.items() if named == sweeper}
        if sweeper not in chores:
            found += [] if sweeper in workers else [f"{sweeper} is no chore and no worker"]
            continue
        async with services.pool.transaction() as db:
            await chores[sweeper].run(db, JOB)
            written = {row[0] for row in await db.fetch(WRITTEN)}
            await db.rollback()
        found += [f"{sweeper} never writes {table}" for table in sorted(wanted - written)]
    tidy("What a table names as its sweeper deletes from it.", found)
