"""The money that lies at a provider now, beside the booked amount: told, and never a difference.

The provider settles to a bank account and may hold money of other books, so the two needn't agree.
"""

import asyncio

from tillhouse.access.process import Services
from tillhouse.finance.reconciling.statements import LOOK_S
from tillhouse.finance.reconciling.store import find_own_balances
from tillhouse.finance.reconciling.types import BalanceBeside, OwnBalances, Side
from tillhouse.providers.payments.provider import (
    NotReached,
    ProviderBalance,
    ProviderRefused,
    Unclear,
    Unknown,
    in_words,
)

NONE_TOLD = "it tells no balance by its API"


async def read_beside(services: Services, side: Side, currency: str) -> list[BalanceBeside]:
    """A provider's balances beside those of the book, whose currency is given."""
    async with services.pool.reading() as db:
        own = await find_own_balances(db, side.origin.book.id)
    why = NONE_TOLD
    try:
        async with asyncio.timeout(LOOK_S):
            told = await side.connection.provider.read_balances(side.connection.credentials)
    except (NotReached, Unclear, ProviderRefused, Unknown, TimeoutError) as error:
        told, why = None, in_words(error)
    if told is None:
        return [_beside(side, currency, own=own, why=why)]
    rows = [
        _beside(side, one.currency, one, own=own if one.currency == currency else None)
        for one in told
        if one.currency == currency or one.available or one.pending
    ]
    if any(row.currency == currency for row in rows):
        return rows
    nothing = _beside(side, currency, own=own, why=f"it tells of no {currency}")
    return [nothing, *rows]


def _beside(
    side: Side,
    currency: str,
    told: ProviderBalance | None = None,
    *,
    own: OwnBalances | None,
    why: str | None = None,
) -> BalanceBeside:
    return BalanceBeside(
        business_id=side.origin.business_id,
        environment=side.origin.book.environment,
        provider=side.origin.provider,
        currency=currency,
        available=None if told is None else told.available,
        pending=None if told is None else told.pending,
        booked=None if own is None else own.booked,
        wallet=None if own is None else own.wallet,
        unread=why if told is None else None,
    )
