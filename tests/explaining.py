"""The plan of a statement instead of its rows: for tests that count work."""

import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, LiteralString

import asyncpg

from tillhouse.db.pool import Db


class _Explained(Exception):
    """The plan is known; there are no rows."""


class _Explaining(Db):
    """Asks for the plan of a statement instead of its rows."""

    def __init__(self, db: Db) -> None:
        self._db = db

    async def fetch(self, sql: LiteralString, *args: object) -> list[asyncpg.Record]:
        """Explain it."""
        text = await self._db.fetchval("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + sql, *args)
        self.plan = json.loads(text)[0]["Plan"]
        raise _Explained

    async def fetchrow(self, sql: LiteralString, *args: object) -> None:
        """Explain it."""
        await self.fetch(sql, *args)

    async def fetchval(self, sql: LiteralString, *args: object) -> None:
        """Explain it."""
        await self.fetch(sql, *args)

    async def execute(self, sql: LiteralString, *args: object) -> str:
        """Explain it."""
        await self.fetch(sql, *args)
        return ""


async def plan_of(db: Db, ask: Callable[[Db], Awaitable[object]]) -> dict[str, Any]:
    """The plan of the statement that a function sends, as it was carried out."""
    asked = _Explaining(db)
    try:
        await ask(asked)
    except _Explained:
        return asked.plan
    raise AssertionError("it sends a statement")


def scanned(node: dict[str, Any]) -> Iterator[str]:
    """The tables that a plan reads from end to end; small ones may be among them."""
    if node["Node Type"] == "Seq Scan":
        yield node["Relation Name"]
    for child in node.get("Plans", ()):
        yield from scanned(child)


def pages_read(plan: dict[str, Any]) -> int:
    """How many pages of tables and indexes a plan looked at."""
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
