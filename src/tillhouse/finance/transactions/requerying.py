"""Asking the provider about a transaction again, and applying what it says."""

from uuid import UUID

import msgspec
import structlog
from asyncpg import Record

from tillhouse.access.call import Call, system_call
from tillhouse.access.process import Services
from tillhouse.checkout.applying import apply_now
from tillhouse.checkout.attempts import TARGET as LINK
from tillhouse.finance.transactions.actions import show_transaction
from tillhouse.finance.transactions.store.page import find_cause
from tillhouse.finance.transactions.types import Requeried, Transaction
from tillhouse.http.route import Reply
from tillhouse.kit.errors import Problem
from tillhouse.kit.ids import BookKey, BusinessId, OrderId
from tillhouse.ledger.rules import TransactionStatus
from tillhouse.orders.deposits.applying import apply
from tillhouse.orders.deposits.beginning import TARGET as ORDER
from tillhouse.payins.asking import ask_about
from tillhouse.payins.types import Origin
from tillhouse.payouts.withdrawals.asking import ask

log = structlog.get_logger()


async def requery(call: Call, transaction_id: UUID) -> Reply[Transaction]:
    """The transaction, and after the commit its provider's answer, if it has one."""
    transaction = await show_transaction(call, transaction_id)
    cause = await find_cause(call.db, call.book.id, transaction_id)
    before = transaction.status
    if cause is None:
        return _reply(transaction, before)

    async def after() -> Reply[Transaction]:
        await _ask(call, cause)
        async with call.services.pool.reading() as db:
            current = await show_transaction(msgspec.structs.replace(call, db=db), transaction_id)
        return _reply(current, before)

    return msgspec.structs.replace(_reply(transaction, before), after=after)


def _reply(transaction: Transaction, before: TransactionStatus) -> Reply[Transaction]:
    outcome = Requeried(changed=transaction.status != before, previous_status=before)
    return Reply(transaction, extra={"meta": outcome})


async def _ask(call: Call, cause: Record) -> None:
    """Ask outside of any transaction, and apply the news."""
    if cause["withdrawal_id"] is not None:
        await ask(call.services, call.book, cause["withdrawal_id"])
        return
    await ask_about(call.services, call.book, cause["payin_id"])
    if cause["target_id"] is not None:
        origin = Origin(BusinessId(cause["business_id"]), call.book, cause["provider"])
        try:
            await apply_target(call.services, origin, (cause["target_type"], cause["target_id"]))
        except Problem as error:
            # Its job reports the fault, and tries again.
            log.warning("payment_not_applied", payin=str(cause["payin_id"]), error=str(error))


async def apply_target(services: Services, origin: Origin, target: tuple[str, UUID]) -> None:
    """Apply the payments of a target (type, id); its job then finds nothing left to do."""
    kind, target_id = target
    if kind == LINK:
        await apply_now(services, BookKey(origin.book.id, target_id))
    elif kind == ORDER:
        async with services.pool.transaction() as db:
            call = system_call(services, db, origin.business_id, origin.book)
            await apply(call, OrderId(target_id))
