"""A test book that collects by the sandbox, with a room of its own that applies what arrives."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg

from tests.make import Business
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.access.store.audit import find_broken_links
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.kit.fault import Fault
from tillhouse.kit.ids import new_id
from tillhouse.ledger.proof import prove
from tillhouse.payins import hooks
from tillhouse.payins.accounts import open_account
from tillhouse.payins.applying import job_kind, mark_applied, mark_reversal_applied, take
from tillhouse.payins.connections import sandbox_credentials
from tillhouse.payins.jobs import kinds
from tillhouse.payins.proof import PAYIN_SOURCE
from tillhouse.payins.sandbox import rules as sandbox
from tillhouse.payins.sandbox.simulating import Simulated, simulate
from tillhouse.payins.types import AccountTarget, Origin, VirtualAccount

TARGET = "order"
# A job that another one queues is due a moment after that began.
_SOON = timedelta(seconds=2)


class Collecting:
    """The test book of a business, and what its targets were told."""

    def __init__(self, services: Services, sql: asyncpg.Connection, origin: Origin) -> None:
        self.services = services
        self.sql = sql
        self.origin = origin
        # The deeds of the room of the targets: (verb, target, amount).
        self.applied: list[tuple[str, UUID, Decimal]] = []

    @classmethod
    async def of(
        cls, services: Services, sql: asyncpg.Connection, business: Business
    ) -> "Collecting":
        """The one of a business."""
        book_id = await sql.fetchval(
            "SELECT id FROM books WHERE business_id = $1 AND environment = 'test'",
            UUID(business.id),
        )
        return cls(services, sql, Origin(UUID(business.id), Book(book_id, "test"), "sandbox"))

    @property
    def book(self) -> Book:
        """The book."""
        return self.origin.book

    def target(self, amount: int | str = 1000, **fields: Any) -> AccountTarget:
        """Something to pay for."""
        given: dict[str, Any] = {
            "book": self.book,
            "type": TARGET,
            "id": new_id(),
            "amount": Decimal(amount),
            "currency": "NGN",
            "email": "payer@example.com",
            "name": "Ada's",
            "description": "An order",
            **fields,
        }
        return AccountTarget(**given)

    async def account(self, amount: int | str = 1000, **fields: Any) -> VirtualAccount:
        """An open account of something new."""
        return await open_account(self.services, self.target(amount, **fields))

    async def simulate(
        self, account: VirtualAccount, kind: Simulated = "exact", amount: Decimal | None = None
    ) -> list[UUID]:
        """Somebody pays; nothing is processed yet."""
        async with self.services.pool.transaction() as db:
            return await simulate(db, self.book, account, kind, amount)

    async def pay(self, account: VirtualAccount, kind: Simulated = "exact") -> list[UUID]:
        """Somebody pays, and all of it is processed."""
        paid = await self.simulate(account, kind)
        await self.work()
        return paid

    async def work(self, at: datetime | None = None) -> None:
        """A worker does all that there is to do at a moment."""
        jobs = [*kinds(self.services), LocalKind(name=job_kind(TARGET), run=self._apply)]
        await JobRunner(self.services.pool, jobs, self.services.job_results).run_due(
            at or now() + _SOON
        )

    async def later(self, **delta: float) -> None:
        """A worker does all that is due by then."""
        await self.work(now() + timedelta(**delta))

    async def _apply(self, db: Db, job: Job) -> bool:
        await self.apply(db, job.subject_id)
        return False

    async def apply(self, db: Db, target_id: UUID) -> None:
        """Do what the room of a target does with payments."""
        for payin in await take(db, self.book.id, TARGET, target_id):
            if payin.is_to_apply:
                self.applied.append(("applied", target_id, payin.amount))
                await mark_applied(db, payin, now(), conditions=("over",))
            if payin.is_to_take_back:
                self.applied.append(("taken back", target_id, payin.amount))
                await mark_reversal_applied(db, payin, now())

    async def hook(self, body: bytes, signature: str | None = None) -> bool:
        """The sandbox calls; whether that was new."""
        headers = {"x-sandbox-signature": signature or self.sign(body)}
        return await hooks.take(self.services, "sandbox", self.book.id, headers, body, now())

    def sign(self, body: bytes) -> str:
        """The signature of a hook of the sandbox."""
        secrets = sandbox_credentials(self.services.vault, self.book.id).secrets
        return sandbox.signature(secrets["hook_secret"], body)

    async def payins(self) -> list[dict[str, Any]]:
        """All that arrived."""
        query = "SELECT * FROM payins WHERE book_id = $1 ORDER BY created_at, id"
        return [dict(row) for row in await self.sql.fetch(query, self.book.id)]

    async def balance(self, kind: str, currency: str = "NGN") -> Decimal:
        """Credits less debits of the accounts of a kind."""
        return await self.sql.fetchval(
            """
            SELECT coalesce(sum(CASE WHEN credit_kind = $2 THEN amount ELSE -amount END), 0)
            FROM ledger_transfers
            WHERE book_id = $1 AND $2 IN (credit_kind, debit_kind) AND currency = $3
            """,
            self.book.id,
            kind,
            currency,
        )

    async def transactions(self) -> list[tuple[str, str, Decimal]]:
        """Those that the business sees: (type, status, amount)."""
        query = """
            SELECT type, status, amount FROM transactions WHERE book_id = $1
            ORDER BY created_at, type
        """
        return [tuple(row) for row in await self.sql.fetch(query, self.book.id)]

    async def faults(self) -> Sequence[Fault | str]:
        """All that `tillhouse verify` finds wrong."""
        async with self.services.pool.reading() as db:
            found = [fault async for fault in prove(db, self.book.id, [PAYIN_SOURCE])]
            broken = await find_broken_links(db, self.origin.business_id, 10)
        return [*found, *(f"audit {link['sequence']}" for link in broken)]

    async def events(self) -> list[tuple[bool, str | None]]:
        """Events of the provider: (whether it is processed, what came of it)."""
        query = """
            SELECT processed_at IS NOT NULL, outcome FROM provider_events WHERE book_id = $1
            ORDER BY received_at, id
        """
        return [tuple(row) for row in await self.sql.fetch(query, self.book.id)]
