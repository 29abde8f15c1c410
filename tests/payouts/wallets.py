"""Wallets with money in them, and what their owners do with it."""

from collections.abc import AsyncIterator, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from tests.api import Api
from tests.make import Business
from tillhouse.access.process import Services
from tillhouse.access.store.businesses import find_currency
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.fault import Fault
from tillhouse.kit.ids import BookId, new_id
from tillhouse.ledger.posting import post
from tillhouse.ledger.rules import Account, Ledger, Movement, Postings, Source, Transfer
from tillhouse.room import SourceType

CURRENCY = "NGN"


async def book_of(services: Services, business: Business, environment: str = "test") -> BookId:
    """The book of a business in one environment."""
    async with services.pool.reading() as db:
        return await db.fetchval(
            "SELECT id FROM books WHERE business_id = $1 AND environment = $2",
            UUID(business.id),
            environment,
        )


async def currency_of(services: Services, book_id: BookId) -> str:
    """The currency of a book."""
    async with services.pool.reading() as db:
        return await find_currency(db, book_id)


async def fill(
    services: Services, book_id: BookId, amount: int | str, currency: str = CURRENCY
) -> UUID:
    """Let an amount come into the wallet, as from a provider; the id of its transfer."""
    postings = Postings(
        (
            Transfer(
                Account("provider_clearing"), Account("wallet"), Decimal(amount), "wallet_deposit"
            ),
        ),
        (Movement("wallet_deposit", "cloove_pay", Decimal(amount)),),
    )
    moment = now()
    source = Source(type="deposit", id=new_id(), happened_at=moment)
    async with services.pool.transaction() as db:
        posted = await post(db, Ledger(book_id, currency, moment), source, postings)
    return posted.transfers[0]


async def _find_all(_db: Db, _book_id: UUID, ids: Sequence[UUID]) -> set[UUID]:
    return set(ids)


async def _prove_nothing(_db: Db, _book_id: UUID, _batch: int) -> AsyncIterator[Fault]:
    for fault in ():
        yield fault


DEPOSIT = SourceType("deposit", _find_all, _prove_nothing)
"""The source of what `fill` posts: there is no row of it that could disagree."""


async def wallet(api: Api) -> dict[str, Any]:
    """The wallet as its route tells it."""
    return (await api.get("/v1/wallet", status=200)).data
