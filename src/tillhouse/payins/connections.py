"""The providers of a book: the adapters by name, which one is asked, with which credentials."""

from collections.abc import Collection, Mapping, Sequence
from random import Random
from types import MappingProxyType
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.access.vault import Vault
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Refused, Unavailable
from tillhouse.kit.ids import CHANCE, BusinessId
from tillhouse.payins.marks import marks
from tillhouse.payins.sandbox.provider import SandboxPayments
from tillhouse.payins.sandbox.rules import BOOK, HOOK_SECRET, hook_secret
from tillhouse.payins.store import connections as store
from tillhouse.payins.types import Collects, ProviderConnection
from tillhouse.providers.payments.limits import amount_fault
from tillhouse.providers.payments.provider import PaymentProvider, ProviderName, ProviderSecrets
from tillhouse.providers.payments.providers import VENDORS, provider

SANDBOX: ProviderName = "sandbox"
_KIND = "payment provider credentials"

# The header that carries the signature of a hook: without it, no body is read.
SIGNATURE_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        SANDBOX: "x-sandbox-signature",
        "paystack": "x-paystack-signature",
        "flutterwave": "verif-hash",
        "monnify": "monnify-signature",
        "stripe": "stripe-signature",
    }
)


def provider_of(services: Services, name: str) -> PaymentProvider | None:
    """The provider of this name; None where this installation has none."""
    if name == SANDBOX:
        return SandboxPayments(services.pool)
    urls = dict(services.settings.provider_urls)
    for vendor in VENDORS:
        if vendor == name:
            return provider(vendor, urls.get(name))
    return None


class NoProvider(
    Refused,
    message="No payment provider is connected for live payments: connect one by "
    "PUT /v1/payment-providers or `tillhouse providers connect`, and select it.",
):
    """A live book has no provider that could collect."""


class ProvidersAway(
    Unavailable, message="The payment providers don't answer right now: try again in a minute."
):
    """Every selected provider failed lately."""


class AmountNotTaken(Refused, message="No selected payment provider takes this amount: change it."):
    """Too little, or finer than the steps of every provider that could collect it."""


class EmailNeeded(Refused, message="The payment provider needs the e-mail address of the payer."):
    """Nothing is opened without one, and none is made up."""


async def find_provider(services: Services, db: Db, book: Book, name: str) -> ProviderConnection:
    """A provider of a book with its credentials; a test book has the sandbox, and only that."""
    provider = provider_of(services, name)
    if provider is None or (name == SANDBOX) != (book.environment == "test"):
        raise NoProvider
    if name == SANDBOX:
        return _connection(services, provider, sandbox_credentials(services.vault, book.id))
    row = await store.find_connection(db, book.id, name)
    if row is None or row["credentials_sealed"] is None:
        raise NoProvider
    return _connection(services, provider, await opened(services, db, row), row["account_mark"])


def _connection(
    services: Services,
    provider: PaymentProvider,
    credentials: ProviderSecrets,
    account: bytes | None = None,
) -> ProviderConnection:
    return ProviderConnection(provider, credentials, marks(services.vault, credentials, account))


async def choose_provider(
    services: Services,
    db: Db,
    book: Book,
    wanted: Collects,
    rng: Random = CHANCE,
    *,
    avoided: Collection[str] = (),
) -> ProviderConnection:
    """One provider at random of those that new accounts may be opened with."""
    if book.environment == "test":
        return await find_provider(services, db, book, SANDBOX)
    taking = await _taking(services, db, book, wanted)
    up = [row for row in taking if not _is_down(row) and row["provider"] not in avoided]
    if not up:
        raise ProvidersAway(retry_after_s=60)
    return await find_provider(services, db, book, rng.choice(up)["provider"])


async def check_collects(services: Services, db: Db, book: Book, wanted: Collects) -> None:
    """Refuse an amount that no selected provider of a live book collects, up or not."""
    if book.environment == "live":
        await _taking(services, db, book, wanted)


async def _taking(services: Services, db: Db, book: Book, wanted: Collects) -> Sequence[Record]:
    """The selected providers that collect the amount; refused with the reason of the last."""
    rows = await store.list_selected(db, book.id)
    if not rows:
        raise NoProvider
    taking = [row for row in rows if _takes(services, row["provider"], wanted)]
    if not taking:
        raise NoProvider(
            f"None of the selected payment providers collects {wanted.currency} this way: connect "
            "one that does by PUT /v1/payment-providers or `tillhouse providers connect`."
        )
    names = [row["provider"] for row in taking]
    against = {name: _against(name, wanted) for name in names}
    fitting = [row for row in taking if against[row["provider"]] is None]
    if not fitting:
        told = "; ".join(dict.fromkeys(reason for reason in against.values() if reason))
        raise AmountNotTaken(f"{told}. Change the amount, or let it be paid another way.")
    if wanted.has_email:
        return fitting
    asking = [row for row in fitting if not _needs_email(services, row["provider"])]
    if not asking:
        told = " and ".join(row["provider"] for row in fitting)
        raise EmailNeeded(
            f"{told} opens an account only for the payer's e-mail address: name a customer who "
            "has one, or send a payment link, whose page asks the payer."
        )
    return asking


def _against(name: str, wanted: Collects) -> str | None:
    if wanted.amount is None:
        return None
    return amount_fault(name, wanted.amount, wanted.currency)


def _needs_email(services: Services, name: str) -> bool:
    provider = provider_of(services, name)
    return provider is not None and provider.capabilities.needs_email


def _takes(services: Services, name: str, wanted: Collects) -> bool:
    provider = provider_of(services, name)
    if provider is None:
        return False
    can = provider.capabilities
    takes_currency = can.currencies is None or wanted.currency in can.currencies
    return takes_currency and wanted.opens in (None, can.opens)


def _is_down(row: Record) -> bool:
    return row["down_until"] is not None and row["down_until"] > now()


def sandbox_credentials(vault: Vault, book_id: UUID) -> ProviderSecrets:
    """Those of the sandbox in a book: derived, so that every test book has them."""
    secret = hook_secret(vault.derive("sandbox payments"), book_id)
    return ProviderSecrets({BOOK: str(book_id), HOOK_SECRET: secret}, is_live=False)


async def seal(
    vault: Vault, db: Db, business_id: BusinessId, record: UUID, secrets: dict[str, str]
) -> bytes:
    """The secrets of a connection, closed for its row."""
    return await vault.seal(db, business_id, record, _KIND, msgspec.json.encode(secrets).decode())


async def opened(services: Services, db: Db, row: Record) -> ProviderSecrets:
    """The credentials of a row of a live book."""
    sealed = row["credentials_sealed"]
    text = await services.vault.open(db, row["business_id"], row["id"], _KIND, sealed)
    return ProviderSecrets(msgspec.json.decode(text, type=dict[str, str]), is_live=True)
