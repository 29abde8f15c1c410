"""A live book that collects by one vendor, as it is simulated."""

from uuid import UUID

import asyncpg

from tests.make import Business
from tests.providers.payments.simulators.simulator import Simulator
from tests.providers.payments.vendors import Vendor
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.payins.connecting import naming
from tillhouse.payins.connections import seal
from tillhouse.payins.store.connections import (
    ConnectionRow,
    lock_connection,
    upsert_connection,
)
from tillhouse.payins.types import Origin
from tillhouse.providers.payments.provider import ProviderSecrets


async def connected(
    services: Services,
    sql: asyncpg.Connection,
    business: Business,
    who: tuple[Vendor, Simulator],
    credentials: ProviderSecrets | None = None,
) -> Origin:
    """The live book of a business, connected to its vendor; by another key of it, if given."""
    vendor, simulator = who
    business_id = UUID(business.id)
    query = "SELECT id FROM books WHERE business_id = $1 AND environment = 'live'"
    key = BookKey(await sql.fetchval(query, business_id), new_id())
    secrets = dict((credentials or simulator.credentials).secrets)
    async with services.pool.transaction() as db:
        sealed = await seal(services.vault, db, business_id, key.id, secrets)
        row = ConnectionRow(
            provider=vendor.name, is_selected=True, credentials_sealed=sealed, hint="…"
        )
        await upsert_connection(db, key, row, now())
    # Every simulator takes the same secrets, by which books of one account are told.
    simulator.books.append(key.book_id)
    await sql.execute(_ENDED, vendor.name, simulator.books)
    return Origin(business_id, Book(key.book_id, "live"), vendor.name)


async def change_key(services: Services, origin: Origin, credentials: ProviderSecrets) -> None:
    """Connect the provider of a live book by other secrets, whose account is asked for."""
    book_id = origin.book.id
    async with services.pool.transaction() as db:
        row = await lock_connection(db, book_id, origin.provider)
        assert row is not None
        key, secrets = BookKey(book_id, row["id"]), dict(credentials.secrets)
        sealed = await seal(services.vault, db, origin.business_id, key.id, secrets)
        new = ConnectionRow(
            provider=origin.provider, is_selected=True, credentials_sealed=sealed, hint="…"
        )
        await upsert_connection(db, key, new, now())
        await naming.queue(db, key, now())


_ENDED = """
    UPDATE payment_providers SET credentials_sealed = NULL, is_selected = false
    WHERE provider = $1 AND book_id <> ALL($2)
"""
