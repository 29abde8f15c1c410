"""Books that share an account of a payment provider, such as two shops of one owner."""

import asyncio
import hashlib
from collections.abc import Sequence
from uuid import UUID

from asyncpg import Record

from tillhouse.access.process import Services
from tillhouse.finance.reconciling import store
from tillhouse.finance.reconciling.types import Side
from tillhouse.payins.connecting.naming import read_account_id
from tillhouse.payins.connections import SANDBOX, opened
from tillhouse.providers.payments.provider import PaymentProvider, ProviderSecrets

# So many connections to one provider are asked whose account theirs is; beyond, keys alone tell.
ASKED_MAX = 200
_AT_ONCE = 10


class Sharing:
    """Which books collect by the same account, read once for each provider."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._connected: dict[str, Sequence[Record]] = {}
        self._marks: dict[str, dict[UUID, frozenset[str]]] = {}
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def connected(self, side: Side) -> list[UUID]:
        """The other books that collect by this provider, by whatever account."""
        rows = await self._rows(side.origin.provider)
        return [row["book_id"] for row in rows if row["book_id"] != side.origin.book.id]

    async def others(self, side: Side) -> list[UUID]:
        """The other books that collect by the account of this one: by its key, or by another."""
        name = side.origin.provider
        if not await self.connected(side):
            return []
        if name not in self._marks:
            self._marks[name] = await self._read(name, side.connection.provider)
        marks, own = self._marks[name], side.origin.book.id
        mine = marks.get(own, frozenset())
        return [one for one, of in marks.items() if one != own and of & mine]

    async def _rows(self, provider: str) -> Sequence[Record]:
        if provider == SANDBOX:
            return []
        if provider not in self._connected:
            async with self._services.pool.reading() as db:
                self._connected[provider] = await store.list_connected(db, provider)
        return self._connected[provider]

    async def _read(self, name: str, provider: PaymentProvider) -> dict[UUID, frozenset[str]]:
        rows = await self._rows(name)
        async with self._services.pool.reading() as db:
            credentials = [await opened(self._services, db, row) for row in rows]
        ids = await asyncio.gather(
            *(self._account_id(provider, one) for one in credentials[:ASKED_MAX])
        )
        named = [*ids, *[None] * len(credentials[ASKED_MAX:])]
        return {
            row["book_id"]: _marks(one, account_id)
            for row, one, account_id in zip(rows, credentials, named, strict=True)
        }

    async def _account_id(
        self, provider: PaymentProvider, credentials: ProviderSecrets
    ) -> str | None:
        async with self._places:
            return await read_account_id(provider, credentials)


def _marks(credentials: ProviderSecrets, account_id: str | None) -> frozenset[str]:
    """The marks of an account, which tell no secret: connections to one account have one alike."""
    of_key = f"key {hashlib.sha256(credentials.key.encode()).hexdigest()}"
    return frozenset({of_key} if account_id is None else {of_key, f"account {account_id}"})
