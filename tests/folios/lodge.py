"""A hotel whose stays are charged and paid through the API, and the proof of its books."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg

from tests.calls import calling
from tests.checkout.till import LINKS
from tests.hotel.house import HOTEL, STAYS, House, day
from tests.make import Business
from tests.orders.shop import ORDERS, exact
from tillhouse.access.process import Services
from tillhouse.app import PRODUCT
from tillhouse.checkout.applying import kind as link_kind
from tillhouse.finance.reconciling.actions import Reconciliation
from tillhouse.finance.reconciling.types import ReconciledPart
from tillhouse.folios import audits
from tillhouse.folios.jobs import kinds as folio_jobs
from tillhouse.folios.types import AuditRun
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.kit.fault import Fault
from tillhouse.ledger.proof import prove
from tillhouse.payins.jobs import kinds as payin_jobs

__all__ = ["AUDITS", "SETTINGS", "STAYS", "Lodge", "at", "day"]

Body = dict[str, Any]
AUDITS, SETTINGS = f"{HOTEL}/audits", f"{HOTEL}/settings"


class Lodge(House):
    """A house of which the tests see the money."""

    sql: asyncpg.Connection
    book_id: UUID

    @classmethod
    async def begin(
        cls, business: Business, sql: asyncpg.Connection, rooms: int = 2, **fields: Any
    ) -> "Lodge":
        """A house with some rooms at 100 a night."""
        opened = await cls.open(business, rooms, **fields)
        assert isinstance(opened, Lodge)
        opened.sql = sql
        query = "SELECT id FROM books WHERE business_id = $1 AND environment = 'test'"
        opened.book_id = await sql.fetchval(query, UUID(business.id))
        return opened

    @property
    def services(self) -> Services:
        """The services of the application."""
        return self.api.app.services

    async def arrive(self, ends: int = 2, **fields: Any) -> Body:
        """A stay that begins today, its guest in the house."""
        return await self.book(0, ends, check_in=True, **fields)

    async def folio(self, stay: Body) -> Body:
        """The folio of a stay."""
        return exact(await self.api.get(f"{STAYS}/{stay['id']}/folio", status=200))

    async def pay(
        self, stay: Body, amount: float, method: str = "cash", *, status: int = 201, **fields: Any
    ) -> Any:
        """The folio after a payment, or the refusal."""
        return await self._did(stay, "payments", status, amount=amount, method=method, **fields)

    async def give_back(
        self, stay: Body, amount: float, method: str = "cash", *, status: int = 201, **fields: Any
    ) -> Any:
        """The folio after a refund, or the refusal."""
        return await self._did(stay, "refunds", status, amount=amount, method=method, **fields)

    async def leave(self, stay: Body, *, status: int = 200, **fields: Any) -> Any:
        """The folio after a check-out, or the refusal."""
        return await self._did(stay, "check-out", status, **fields)

    async def _did(self, stay: Body, verb: str, status: int, **body: Any) -> Any:
        answer = await self.act(stay, verb, **body)
        assert answer.status == status, answer
        return exact(answer) if status < 300 else answer

    async def charge(self, stay: Body, price: float) -> Body:
        """An order of one thing on a stay."""
        order_id = await self.late(stay, price)
        assert order_id is not None
        return (await self.api.get(f"{ORDERS}/{order_id}", status=200)).data

    async def late(self, stay: Body, price: float) -> str | None:
        """The id of an order on a stay, or None: the stay is over."""
        body = {
            "items": [{"product_name": "Suya", "quantity": 1, "custom_price": price}],
            "hotel_reservation_id": stay["id"],
        }
        answer = await self.api.post(ORDERS, body)
        if answer.status == 400:
            assert "stay" in answer.json["message"], answer
            return None
        assert answer.status == 201, answer
        return answer.data["id"]

    async def link(self, stay: Body, **fields: Any) -> Body:
        """A payment link of a stay."""
        api = await self.business.client("payment_links:write")
        body = {"target_type": "reservation", "target_id": stay["id"], **fields}
        return (await api.post(LINKS, body, status=201)).data

    async def pay_link(self, link: Body, case: str = "exact") -> Body:
        """The link after somebody has paid on its page, and all that follows was done."""
        path, form = f"/pay/{link['reference']}", f"case={case}".encode()
        await self.business.anybody.get(path, status=200)
        await self.business.anybody.post(path + "/simulate", None, raw=form, status=303)
        services = self.services
        jobs = [*payin_jobs(services), link_kind(services), *folio_jobs(services)]
        runner = JobRunner(services.pool, jobs, services.job_results)
        await runner.run_due(now() + timedelta(seconds=2))
        failed = "SELECT kind, reason FROM jobs WHERE book_id = $1 AND reason IS NOT NULL"
        assert await self.sql.fetch(failed, self.book_id) == []
        api = await self.business.client("payment_links:read")
        return (await api.get(f"{LINKS}/{link['id']}", status=200)).data

    async def differences(self) -> list[str]:
        """The kinds of what `tillhouse reconcile` finds."""
        day_long = timedelta(days=1)
        scope = ReconciledPart(since=now() - day_long, until=now() + day_long, book=self.book_id)
        found = await Reconciliation(self.services, scope, PRODUCT.sources).look()
        return [f"{one.kind}: {one.what}" for one in found.differences]

    async def audit(self, days: int = 1, hour: int = 4) -> AuditRun:
        """Run the audits that are due so many days from today at an hour."""
        async with calling(self.services, self.business) as call:
            call.now = at(days, hour)
            return await audits.run(call)

    async def shift(self, stay: Body, days: int) -> None:
        """Let a stay have begun so many days earlier."""
        await self.sql.execute(_SHIFT, self.book_id, UUID(stay["id"]), days)

    async def accounts(self) -> dict[str, Decimal]:
        """Debits less credits by kind of account, where they aren't even."""
        rows = await self.sql.fetch(_ACCOUNTS, self.book_id)
        return {row["kind"]: row["held"] for row in rows}

    async def events(self) -> Counter[str]:
        """How often what was told."""
        query = "SELECT type, count(*) FROM webhook_events WHERE book_id = $1 GROUP BY type"
        return Counter(
            {row["type"]: row["count"] for row in await self.sql.fetch(query, self.book_id)}
        )

    async def faults(self) -> list[Fault]:
        """The faults that `tillhouse verify` finds in the book."""
        async with self.services.pool.reading() as db:
            return [fault async for fault in prove(db, self.book_id, PRODUCT.sources)]


def at(days: int, hour: int) -> datetime:
    """An hour of a day so far from today, in UTC."""
    today = datetime.now(UTC).replace(hour=hour, minute=0, second=0, microsecond=0)
    return today + timedelta(days=days)


_SHIFT = """
    UPDATE hotel_reservations r SET check_in_on = r.check_in_on - $3::integer,
        check_out_on = r.check_out_on - $3::integer,
        nights = (SELECT jsonb_agg(jsonb_build_object('price', n.night -> 'price',
                'date', (n.night ->> 'date')::date - $3::integer) ORDER BY n.night ->> 'date')
            FROM jsonb_array_elements(r.nights) AS n (night))
    WHERE r.book_id = $1 AND r.id = $2
"""
_ACCOUNTS = """
    SELECT s.kind, sum(s.amount) AS held FROM (
        SELECT debit_kind AS kind, amount FROM ledger_transfers WHERE book_id = $1
        UNION ALL
        SELECT credit_kind, -amount FROM ledger_transfers WHERE book_id = $1
    ) s GROUP BY s.kind HAVING sum(s.amount) <> 0
"""
