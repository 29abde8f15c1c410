"""Attempts to pay a link: an account of a provider, opened once and kept while it lives."""

import asyncio
from typing import cast
from uuid import UUID

import structlog

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.checkout.actions import page_url
from tillhouse.checkout.page_rules import LinkPage, Trouble
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Problem
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.orders.deposits.store import update_automated
from tillhouse.payins import accounts, asking
from tillhouse.payins.connections import AmountNotTaken, EmailNeeded
from tillhouse.payins.sandbox import simulating
from tillhouse.payins.sandbox.simulating import Simulated
from tillhouse.payins.store import accounts as store
from tillhouse.payins.types import AccountTarget

log = structlog.get_logger()

TARGET = "payment_link"
"""The type of target by which payins know links."""

# A page waits so long for a provider; the opening goes on, and the next view finds its account.
WAITS_S = 3.0
_SLOW = "The bank takes its time to give us an account number. Try again in a moment."
_FAILED = "The bank gave us no account number. Try again in a moment."


class Attempts:
    """The accounts that are being opened by one process."""

    def __init__(self) -> None:
        self._opening: dict[tuple[UUID, str | None], asyncio.Task[object]] = {}

    async def open(
        self, services: Services, link: LinkPage, email: str | None = None
    ) -> Trouble | None:
        """Open an account for the amount asked now; None, or why there is none.

        The payer's e-mail address goes to a provider that needs it, and is kept nowhere here.
        """
        key = (link.id, email)
        task = self._opening.get(key)
        if task is None:
            task = asyncio.create_task(_open(services, link, email))
            self._opening[key] = task
            task.add_done_callback(lambda _: self._opening.pop(key, None))
        done, _ = await asyncio.wait({task}, timeout=WAITS_S)
        if not done:
            return Trouble(_SLOW)
        error = task.exception()
        if error is None:
            return None
        if isinstance(error, EmailNeeded):
            return Trouble(needs_email=True)
        if isinstance(error, Problem):
            log.info("no_account_to_pay_into", link=str(link.id), reason=error.message)
        else:
            log.warning("no_account_to_pay_into", link=str(link.id), error=repr(error))
        if isinstance(error, AmountNotTaken):
            return Trouble(error.message, may_try_again=False)
        return Trouble(_FAILED)

    async def ask(self, services: Services, link: LinkPage) -> bool:
        """Ask the provider for payments; whether it was asked: once in some seconds an account."""
        return await asking.ask(services, _book(link), (TARGET, link.id)) is not None

    async def simulate(self, services: Services, link: LinkPage, case: str) -> None:
        """Let the sandbox be paid."""
        async with services.pool.transaction() as db:
            account = await store.find_latest(db, _book(link).id, (TARGET, link.id))
            if account is not None:
                await simulating.simulate(db, _book(link), account, cast("Simulated", case))


async def _open(services: Services, link: LinkPage, email: str | None) -> None:
    """Open the account; its order has a deposit from then on."""
    if link.order_id is not None:
        # Before anything can arrive.
        async with services.pool.transaction() as db:
            await update_automated(db, BookKey(BookId(link.book_id), link.order_id), now())
    await accounts.open_account(services, _target(services, link, email))


def _book(link: LinkPage) -> Book:
    return Book(BookId(link.book_id), link.environment)


def _target(services: Services, link: LinkPage, email: str | None) -> AccountTarget:
    url = page_url(services.settings.public_url, link.reference)
    return AccountTarget(
        book=_book(link),
        type=TARGET,
        id=link.id,
        amount=link.outstanding,
        currency=link.currency,
        email=email or link.customer_email,
        name=link.merchant,
        description=link.title or link.description,
        expires_at=link.expires_at,
        return_url=url,
        order_id=link.order_id,
    )
