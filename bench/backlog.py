"""A backlog of webhooks that is there at once, and the processes beside a measurement."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import asyncpg

_BACKLOG = """
    WITH endpoint AS (
        SELECT book_id, id, developer_app_id, url FROM webhook_endpoints
        WHERE book_id = $1 AND $3 = ANY(events)
    ), event AS (
        INSERT INTO webhook_events (book_id, id, type, payload)
        SELECT $1, new_id(now()), $3, repeat('x', 500) FROM generate_series(1, $2::int)
        RETURNING id
    ), delivery AS (
        INSERT INTO webhook_deliveries (book_id, id, developer_app_id, webhook_endpoint_id,
            event_id, event_type, status, url, next_attempt_at, updated_at)
        SELECT $1, new_id(now()), e.developer_app_id, e.id, v.id, $3, 'pending', e.url, now(), now()
        FROM event v, endpoint e RETURNING id, webhook_endpoint_id, event_id
    )
    INSERT INTO webhook_queue (book_id, delivery_id, endpoint_id, event_id, due_at)
    SELECT $1, id, webhook_endpoint_id, event_id, now() FROM delivery RETURNING event_id
"""


async def queue_backlog(
    connection: asyncpg.Connection, book_id: UUID, count: int, event: str
) -> set[str]:
    """So many events for the endpoints of a book that want them, all due now; their ids."""
    rows = await connection.fetch(_BACKLOG, book_id, count, event)
    return {str(row["event_id"]) for row in rows}


class Process:
    """A child that answers a line on its standard output for each line on its input."""

    def __init__(self, *args: str, environment: dict[str, str] | None = None) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-m", *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.first_line = self._read()

    def ask(self) -> str:
        """Its answer now."""
        assert self._child.stdin
        self._child.stdin.write("\n")
        self._child.stdin.flush()
        return self._read()

    def arrivals(self) -> Sequence[tuple[str, int]]:
        """The deliveries of a sink since the last call: event ids and monotonic nanoseconds."""
        found: list[Any] = json.loads(self.ask())
        return [(event_id, at) for event_id, at in found]

    def stop(self) -> None:
        """Let it end by itself."""
        assert self._child.stdin
        self._child.stdin.close()
        self._child.wait(60)

    def _read(self) -> str:
        assert self._child.stdout
        return self._child.stdout.readline().strip()
