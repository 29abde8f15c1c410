"""The way to a payment provider: which one pays out for a book, and with which credentials."""

from collections.abc import Awaitable, Callable

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.kit.errors import Refused
from tillhouse.payins.connections import SANDBOX, NoProvider, find_provider, provider_of
from tillhouse.payins.store.connections import list_selected
from tillhouse.payins.types import ProviderConnection

# The connection of a book by a provider's name, None where the book has none of that name.
Finds = Callable[[Services, Db, Book, str], Awaitable[ProviderConnection | None]]


class NoPayouts(
    Refused,
    message="No payment provider that pays out in this currency is connected and selected: "
    "connect one by PUT /v1/payment-providers, then try again.",
):
    """The book can't pay out."""


async def find(services: Services, db: Db, book: Book, name: str) -> ProviderConnection | None:
    """The connection of a book to this provider."""
    try:
        return await find_provider(services, db, book, name)
    except NoProvider:
        return None


async def choose(services: Services, db: Db, book: Book, currency: str) -> str:
    """The provider that new accounts are paid out to by: the first of those that can, by name."""
    if book.environment == "test":
        return SANDBOX
    for name in sorted(row["provider"] for row in await list_selected(db, book.id)):
        provider = provider_of(services, name)
        if provider is not None:
            able = provider.capabilities
            takes = able.currencies is None or currency in able.currencies
            if able.has_payouts and able.has_name_enquiry and takes:
                return name
    raise NoPayouts
