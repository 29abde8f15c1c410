"""The name enquiry: a provider is asked who holds an account, after the commit or by a worker.

The account is kept first, with a job. Asking changes nothing at the provider, so it is asked again
until it answers.
"""

from datetime import datetime, timedelta
from functools import partial

import msgspec

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Again, Job, OutsideKind, Retry
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookKey
from tillhouse.payins.types import ProviderConnection
from tillhouse.payouts.accounts import store
from tillhouse.payouts.gateway import Finds
from tillhouse.providers.payments.provider import NotReached, ProviderRefused, Unclear

PAYOUT_ACCOUNT = "payout_account"
# For so long after the commit the check is left to the request that asked for it.
GRACE = timedelta(seconds=20)
_RETRY = Retry(attempts_max=20, base=timedelta(seconds=10))
_WORDS_LENGTH_MAX = 300
_NEVER_ANSWERED = "The payment provider gave no answer: create the account again."
_NOT_CONNECTED = "The payment provider is not connected any more."


class Check(msgspec.Struct, frozen=True):
    """An account that a provider is asked about."""

    connection: ProviderConnection | None
    bank_code: str
    account_number: str
    currency: str
    usable_at: datetime


class AccountCheck(msgspec.Struct, frozen=True):
    """The answer: a holder and the bank's name, or why there is none; or to ask again."""

    holder: str | None = None
    bank_name: str | None = None
    error: str | None = None
    asks_again: bool = False


def kind(services: Services, finds: Finds) -> OutsideKind:
    """The job of one name enquiry."""
    return OutsideKind(
        name=PAYOUT_ACCOUNT,
        begin=partial(_begin, services, finds),
        run=_ask,
        record=_record,
        give_up=_give_up,
        retry=_RETRY,
    )


async def _begin(services: Services, finds: Finds, db: Db, job: Job) -> Check | None:
    row = await store.lock_checking(db, job.book_id, job.subject_id)
    if row is None:
        return None
    book = Book(job.book_id, row["environment"])
    hours = services.settings.payout_cooling_off_hours if row["environment"] == "live" else 0
    return Check(
        connection=await finds(services, db, book, row["provider"]),
        bank_code=row["bank_code"],
        account_number=row["account_number"],
        currency=row["currency"],
        usable_at=now() + timedelta(hours=hours),
    )


async def _ask(check: Check) -> AccountCheck:
    if check.connection is None:
        return AccountCheck(error=_NOT_CONNECTED)
    provider, credentials = check.connection.provider, check.connection.credentials
    try:
        banks = await provider.list_banks(credentials, check.currency)
        holder = await provider.resolve_name(credentials, check.bank_code, check.account_number)
    except ProviderRefused as refusal:
        return AccountCheck(error=str(refusal)[:_WORDS_LENGTH_MAX] or "refused")
    except (NotReached, Unclear) as error:
        return AccountCheck(error=str(error)[:_WORDS_LENGTH_MAX] or "not reached", asks_again=True)
    names = {bank.code: bank.name for bank in banks}
    return AccountCheck(holder=holder, bank_name=names.get(check.bank_code))


async def _record(db: Db, job: Job, check: Check, told: AccountCheck) -> Again | None:
    if told.asks_again:
        return Again(told.error or "not reached")
    await _end(db, job, told, check.usable_at)
    return None


async def _end(db: Db, job: Job, told: AccountCheck, usable_at: datetime) -> None:
    named = store.CheckResult(
        holder=told.holder, bank_name=told.bank_name, error=told.error, usable_at=usable_at
    )
    await store.update_checked(db, BookKey(job.book_id, job.subject_id), named, now())


async def _give_up(db: Db, job: Job, _reason: str) -> None:
    await _end(db, job, AccountCheck(error=_NEVER_ANSWERED), now())
