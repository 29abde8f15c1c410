"""The words of a provider: its statement, page by page, and its answer about one thing."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from datetime import timedelta
from typing import TypeVar

from tillhouse.finance.reconciling.rules import Verdict
from tillhouse.finance.reconciling.types import Difference, Side
from tillhouse.kit.clock import now
from tillhouse.providers.payments.provider import (
    NotReached,
    ProviderListPage,
    ProviderRefused,
    StatementOf,
    StatementRequest,
    Unclear,
    Unknown,
    in_words,
)

PAGE_S, LOOK_S = 60.0, 30.0
PAGES_MAX = 1_000
T = TypeVar("T")
# Providers list by moments of their own, such as when a payment was begun.
MARGIN = timedelta(days=1)


class Unread(Exception):
    """A provider that could not be asked; the text says why."""


async def read_pages(side: Side, of: StatementOf) -> AsyncIterator[ProviderListPage]:
    """All pages of a time, and of a day before and after it."""
    provider, credentials = side.connection.provider, side.connection.credentials
    if not provider.capabilities.has_statement:
        return
    since, until = side.since - MARGIN, min(side.until, now()) + MARGIN
    cursor: str | None = None
    for _ in range(PAGES_MAX):
        asked = StatementRequest(of=of, since=since, until=until, cursor=cursor)
        try:
            async with asyncio.timeout(PAGE_S):
                page = await provider.read_statement(credentials, asked)
        except (NotReached, Unclear, ProviderRefused, TimeoutError) as error:
            raise Unread(in_words(error)) from error
        yield page
        cursor = page.following
        if cursor is None:
            return
    raise Unread(f"its statement has more than {PAGES_MAX:,} pages: reconcile a shorter time")


async def read_one(call: Awaitable[T]) -> T | None:
    """The answer to a question about one thing; None: the provider doesn't know it."""
    try:
        async with asyncio.timeout(LOOK_S):
            return await call
    except Unknown:
        return None
    except (NotReached, Unclear, ProviderRefused, TimeoutError) as error:
        raise Unread(in_words(error)) from error


def difference(side: Side, name: str, verdict: Verdict) -> Difference:
    """A verdict on the thing of this name, as it is told."""
    kind, what, remedy = verdict
    return Difference(
        kind=kind,
        business_id=side.origin.business_id,
        environment=side.origin.book.environment,
        provider=side.origin.provider,
        id=name,
        what=what,
        repair=remedy,
    )
