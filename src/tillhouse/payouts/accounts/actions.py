"""Payout accounts: create, list, show, deactivate; and the banks that they may be at."""

from uuid import UUID

from asyncpg import Record

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.callers import UserCaller
from tillhouse.access.rules import check_step_up
from tillhouse.access.store.businesses import find_currency
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Refused, Unavailable, existing
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.page import Deleted, PageOf, meta
from tillhouse.orders.money_types import actor_of
from tillhouse.payouts.accounts import store
from tillhouse.payouts.accounts.checking import GRACE, PAYOUT_ACCOUNT
from tillhouse.payouts.accounts.types import (
    ListedBank,
    NewPayoutAccount,
    PayoutAccount,
    PayoutAccountFilter,
)
from tillhouse.payouts.gateway import choose, find
from tillhouse.providers.payments.provider import NotReached, Unclear
from tillhouse.providers.payments.provider import ProviderRefused as RefusedByProvider


async def create(call: Call, new: NewPayoutAccount) -> PayoutAccount:
    """Keep an account; its provider is asked after the commit who holds it."""
    check_stepped_up(call)
    currency = await find_currency(call.db, call.book.id)
    provider = await choose(call.services, call.db, call.book, currency)
    by = actor_of(call.caller)
    account_id = new_id()
    row = store.AccountRow(
        provider=provider,
        bank_code=new.bank_code,
        account_number=new.account_number,
        currency=currency,
        created_by_id=by.id,
        created_by_name=by.name,
    )
    key = BookKey(call.book.id, account_id)
    await store.insert_account(call.db, key, row, PAYOUT_ACCOUNT, call.now + GRACE, call.now)
    await _note(call, "created", account_id, row.bank_code, row.account_number)
    return await show(call, account_id)


def check_stepped_up(call: Call) -> None:
    """A person has given the password a moment ago; a key is bound to addresses instead."""
    if isinstance(call.caller, UserCaller):
        check_step_up(call.caller, call.now)


async def list_page(call: Call, wanted: PayoutAccountFilter) -> PageOf[PayoutAccount]:
    """One page of the accounts, the newest first."""
    page = wanted.pick()
    total = await store.count_accounts(call.db, call.book.id)
    rows = await store.list_accounts(call.db, call.book.id, page) if page.offset < total else []
    return PageOf([shown(row) for row in rows], meta(page, total))


async def show(call: Call, payout_account_id: UUID) -> PayoutAccount:
    """One account."""
    return shown(existing(await store.show_account(call.db, call.book.id, payout_account_id)))


async def deactivate(call: Call, payout_account_id: UUID) -> Deleted:
    """Take an account out of use; withdrawals that were requested keep it."""
    check_stepped_up(call)
    key = BookKey(call.book.id, payout_account_id)
    row = existing(await store.update_inactive(call.db, key, call.now))
    if row["before"] != "inactive":
        await _note(call, "deactivated", payout_account_id, row["bank_code"], row["account_number"])
    return Deleted(payout_account_id, iso(call.now))


async def list_banks(call: Call) -> list[ListedBank]:
    """The banks that the provider pays out to, by name."""
    currency = await find_currency(call.db, call.book.id)
    name = await choose(call.services, call.db, call.book, currency)
    connection = existing(await find(call.services, call.db, call.book, name))
    await call.db.release()
    try:
        banks = await connection.provider.list_banks(connection.credentials, currency)
    except RefusedByProvider as refusal:
        raise Refused(f"The payment provider refuses: {refusal}") from refusal
    except (NotReached, Unclear) as error:
        raise Unavailable("The payment provider gave no answer: try again.") from error
    listed = [ListedBank(bank.code, bank.name) for bank in banks]
    return sorted(listed, key=lambda bank: (bank.name.casefold(), bank.code))


def shown(row: Record) -> PayoutAccount:
    """An account as the API tells it."""
    return PayoutAccount(**dict(row))


async def _note(call: Call, verb: str, account_id: UUID, bank_code: str, number: str) -> None:
    ending = number[-4:]
    title = f"Payout account …{ending}: {verb}"
    metadata = {
        "payoutAccountId": str(account_id),
        "environment": call.book.environment,
        "bankCode": bank_code,
        "accountNumberEnding": ending,
    }
    await audit.note(call, (f"payout_account.{verb}", title), metadata)
