"""The statement of a provider, page by page."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

from tillhouse.finance.reconciling.types import Side
from tillhouse.kit.clock import now
from tillhouse.providers.payments.provider import (
    NotReached,
    Refused,
    StatementOf,
    StatementPage,
    StatementRequest,
    Unclear,
)

CALL_S = 60.0
PAGES_MAX = 1_000
# Providers list by moments of their own, such as when a payment was begun.
MARGIN = timedelta(days=1)


class Unread(Exception):
    """A provider that could not be asked; the text says why."""


async def read_pages(side: Side, of: StatementOf) -> AsyncIterator[StatementPage]:
    """All pages of a time, and of a day before and after it."""
    provider, credentials = side.connection.provider, side.connection.credentials
    if not provider.capabilities.has_statement:
        return
    since, until = side.since - MARGIN, min(side.until, now()) + MARGIN
    cursor: str | None = None
    for _ in range(PAGES_MAX):
        asked = StatementRequest(of=of, since=since, until=until, cursor=cursor)
        try:
            async with asyncio.timeout(CALL_S):
                page = await provider.read_statement(credentials, asked)
        except (NotReached, Unclear, Refused, TimeoutError) as error:
            raise Unread(f"{type(error).__name__}: {error}") from error
        yield page
        cursor = page.following
        if cursor is None:
            return
    raise Unread(f"its statement has more than {PAGES_MAX:,} pages: reconcile a shorter time")
