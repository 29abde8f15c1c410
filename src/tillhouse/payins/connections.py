"""The providers of a book: which one is asked, and with what credentials."""

import random
from collections.abc import Collection
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.access.vault import Vault
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Refused, Unavailable
from tillhouse.kit.ids import BusinessId
from tillhouse.payins.sandbox.rules import BOOK, HOOK_SECRET, hook_secret
from tillhouse.payins.store import connections as store
from tillhouse.payins.types import Connection
from tillhouse.payins.vendors import SANDBOX, provider_of
from tillhouse.providers.payments.provider import Credentials, Opens

_KIND = "payment provider credentials"
_ANY = random.SystemRandom()


class NoProvider(
    Refused,
    message="No payment provider is connected for live payments: connect one by "
    "PUT /v1/payment-providers or `tillhouse providers connect`, and select it.",
):
    """A live book has nobody who could collect."""


class ProvidersAway(
    Unavailable, message="The payment providers don't answer right now: try again in a minute."
):
    """Every selected provider failed lately."""


class Collects(msgspec.Struct, frozen=True):
    """The abilities that an account asks of its provider."""

    currency: str
    # An account number or a page; None: whichever it opens.
    opens: Opens | None = None


async def find_provider(services: Services, db: Db, book: Book, name: str) -> Connection:
    """A provider of a book with its credentials; a test book has the sandbox, and only that."""
    provider = provider_of(services, name)
    if provider is None or (name == SANDBOX) != (book.environment == "test"):
        raise NoProvider
    if name == SANDBOX:
        return Connection(provider, sandbox_credentials(services.vault, book.id))
    row = await store.find_connection(db, book.id, name)
    if row is None or row["credentials_sealed"] is None:
        raise NoProvider
    return Connection(provider, await opened(services, db, row))


async def choose_provider(
    services: Services,
    db: Db,
    book: Book,
    wanted: Collects,
    rng: random.Random = _ANY,
    *,
    avoided: Collection[str] = (),
) -> Connection:
    """One provider at random of those that new accounts may be opened with."""
    if book.environment == "test":
        return await find_provider(services, db, book, SANDBOX)
    rows = await store.list_selected(db, book.id)
    taking = [row for row in rows if _takes(services, row["provider"], wanted)]
    if not rows:
        raise NoProvider
    if not taking:
        raise NoProvider(
            f"None of the selected payment providers collects {wanted.currency} this way: connect "
            "one that does by PUT /v1/payment-providers or `tillhouse providers connect`."
        )
    up = [row for row in taking if not _is_down(row) and row["provider"] not in avoided]
    if not up:
        raise ProvidersAway(retry_after_s=60)
    return await find_provider(services, db, book, rng.choice(up)["provider"])


def _takes(services: Services, name: str, wanted: Collects) -> bool:
    provider = provider_of(services, name)
    if provider is None:
        return False
    can = provider.capabilities
    takes_currency = can.currencies is None or wanted.currency in can.currencies
    return takes_currency and wanted.opens in (None, can.opens)


def _is_down(row: Record) -> bool:
    return row["down_until"] is not None and row["down_until"] > now()


def sandbox_credentials(vault: Vault, book_id: UUID) -> Credentials:
    """Those of the sandbox in a book: derived, so that every test book has them."""
    secret = hook_secret(vault.derive("sandbox payments"), book_id)
    return Credentials({BOOK: str(book_id), HOOK_SECRET: secret}, is_live=False)


async def seal(
    vault: Vault, db: Db, business_id: BusinessId, record: UUID, secrets: dict[str, str]
) -> bytes:
    """The secrets of a connection, closed for its row."""
    return await vault.seal(db, business_id, record, _KIND, msgspec.json.encode(secrets).decode())


async def opened(services: Services, db: Db, row: Record) -> Credentials:
    """The credentials of a row of a live book."""
    sealed = row["credentials_sealed"]
    text = await services.vault.open(db, row["business_id"], row["id"], _KIND, sealed)
    return Credentials(msgspec.json.decode(text, type=dict[str, str]), is_live=True)
