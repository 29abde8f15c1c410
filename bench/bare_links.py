"""The ceiling of payment links: an ASGI function that sends the statements of a link of the wallet.

Nothing is parsed, checked or shown, and no key is checked: what the application needs beyond this
is its own cost.
"""

import os
from typing import Any
from uuid import UUID

from tillhouse.access.store.businesses import find_currency
from tillhouse.app import settle
from tillhouse.checkout.rules import WALLET_LASTS
from tillhouse.checkout.store import links
from tillhouse.db.pool import Pool
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId, new_id, public_reference

_HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"2")]


class BareLinks:
    """The ASGI function, for one book."""

    def __init__(self) -> None:
        self._book = BookId(UUID(os.environ["BENCH_BOOK"]))
        self._pool: Pool | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or start and stop with the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        while (await receive()).get("more_body"):
            pass
        await self._make()
        await send({"type": "http.response.start", "status": 201, "headers": _HEADERS})
        await send({"type": "http.response.body", "body": b"{}"})

    async def _make(self) -> None:
        assert self._pool is not None
        at = now()
        async with self._pool.transaction() as db:
            row = links.LinkRow(
                id=new_id(),
                reference=public_reference("pl_"),
                target_type="wallet",
                target_id=None,
                order_id=None,
                title="Deposit for the hall",
                amount=250,
                currency=await find_currency(db, self._book),
                customer_id=None,
                description="Deposit for the hall",
                redirect_url=None,
                expires_at=at + WALLET_LASTS,
                key=None,
                fingerprint=None,
            )
            await links.insert_link(db, self._book, at, row)

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        self._pool = await Pool.open(os.environ["TILLHOUSE_DATABASE_URL"], size=16, fail_fast=4)
        settle()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._pool.close()
        await send({"type": "lifespan.shutdown.complete"})
