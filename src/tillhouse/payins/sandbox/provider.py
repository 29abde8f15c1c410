"""The sandbox as a payment provider."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db, Pool
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId, BookKey, new_id
from tillhouse.kit.secrets import same
from tillhouse.payins.sandbox import rules, store
from tillhouse.providers.payments.provider import (
    AccountRequest,
    Bank,
    Capabilities,
    Heard,
    HeardPayment,
    HeardPayout,
    HeardRefund,
    ListedRefund,
    NotReached,
    OpenedAccount,
    PayoutRequest,
    PayoutState,
    ProviderListPage,
    ProviderName,
    ProviderRefused,
    ProviderSecrets,
    RefundRequest,
    RefundState,
    SeenDispute,
    SeenPayment,
    SeenPayout,
    SeenRefund,
    StatementRequest,
    Unclear,
    Unknown,
)

_PAYOUT_STATES: dict[rules.Magic, PayoutState] = {
    "fails": "failed",
    "late": "failed",
    "slow": "processing",
}
_REFUND_STATES: dict[rules.Magic, RefundState] = {"fails": "failed", "slow": "pending"}


class SandboxPayments:
    """Keeps a provider's records in tables of its own; amounts decide its answers."""

    name: ProviderName = "sandbox"
    capabilities = Capabilities(
        opens="account",
        has_refunds=True,
        has_payouts=True,
        has_name_enquiry=True,
        has_statement=True,
        has_disputes=True,
    )
    secret_names: Sequence[str] = ()
    test_prefixes: Sequence[str] = ()

    _HEADER: ClassVar[str] = "x-sandbox-signature"

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def check(self, credentials: ProviderSecrets) -> None:
        """Every test book has it."""

    async def find_account_id(self, credentials: ProviderSecrets) -> str | None:
        """The book: each has a sandbox of its own."""
        return credentials.secrets[rules.BOOK]

    async def read_balances(self, credentials: ProviderSecrets) -> None:
        """None: it only pretends to have money."""
        return

    def is_signed(
        self, credentials: ProviderSecrets, headers: Mapping[str, str], body: bytes
    ) -> bool:
        """HMAC-SHA256 of the body, in hexadecimal digits."""
        wanted = rules.signature(credentials.secrets[rules.HOOK_SECRET], body)
        return same(wanted, headers.get(self._HEADER, ""))

    def heard(self, body: bytes) -> Sequence[Heard]:
        """One thing for each body."""
        try:
            told = json.loads(body)
        except ValueError:
            return ()
        if not isinstance(told, dict):
            return ()
        kind, data = told.get("event"), told.get("data")
        if not isinstance(data, dict):
            return ()
        match kind:
            case "payment":
                return (
                    HeardPayment(
                        _text(data, "reference"),
                        _text(data, "transactionId"),
                        _text(data, "accountNumber"),
                    ),
                )
            case "payout" if reference := _text(data, "reference"):
                return (HeardPayout(reference),)
            case "refund" if reference := _text(data, "reference"):
                return (HeardRefund(reference, reference),)
            case _:
                return ()

    async def open_account(
        self, credentials: ProviderSecrets, wanted: AccountRequest
    ) -> OpenedAccount:
        """An account whose number follows from the reference."""
        return OpenedAccount(
            provider_reference=f"sandbox-{wanted.reference}",
            account_number=rules.account_number(wanted.reference),
            bank_name=rules.BANK_NAME,
            account_name=f"{rules.ACCOUNT_NAME} / {wanted.name}",
            expires_at=wanted.expires_at,
        )

    async def find_payments(
        self, credentials: ProviderSecrets, heard: HeardPayment
    ) -> Sequence[SeenPayment]:
        """By the payment's own id, the account's number or its reference."""
        book_id = _book(credentials)
        payment_id = _as_id(heard.transaction_id)
        number = heard.account_number
        if number is None and heard.reference is not None:
            number = rules.account_number(heard.reference)
        async with self._pool.reading() as db:
            if payment_id is not None:
                row = await store.find_payment(db, BookKey(book_id, payment_id))
                rows = [row] if row else []
            elif number is not None:
                rows = await store.list_payments(db, book_id, number)
            else:
                rows = []
            disputes = await store.list_disputes_of(db, book_id, [row["id"] for row in rows])
        return [_seen_payment(row, disputes) for row in rows]

    async def refund(self, credentials: ProviderSecrets, wanted: RefundRequest) -> SeenRefund:
        """Give a payment back, never more than it was."""
        book_id, at = _book(credentials), now()
        payment_id = _as_id(wanted.transaction_id)
        magic = rules.magic(wanted.amount, wanted.currency)
        if magic == "refused" or payment_id is None:
            raise ProviderRefused("The refund is refused.")
        async with self._pool.transaction() as db:
            key = BookKey(book_id, payment_id)
            payment = await store.lock_payment(db, key)
            found = await store.find_refund(db, book_id, wanted.reference)
            if found is not None:
                return _seen_refund(found)
            left = payment["amount"] - await store.find_refunded(db, key) if payment else 0
            if payment is None or payment["state"] != "successful" or wanted.amount > left:
                raise ProviderRefused("There is no such payment, or less of it is left.")
            state = _REFUND_STATES.get(magic, "successful")
            row = store.SandboxRefundRow(
                payment_id=payment_id,
                state=state,
                amount=wanted.amount,
                currency=wanted.currency,
                reason=rules.FAILED if state == "failed" else None,
            )
            await store.insert_refund(db, book_id, wanted.reference, row, at)
            if magic == "reversed":
                await _tell_later(db, book_id, f"refund:{wanted.reference}", at)
            found = await store.find_refund(db, book_id, wanted.reference)
        if magic == "unclear" or found is None:
            raise Unclear("no answer in time")
        return _seen_refund(found)

    async def find_refund(self, credentials: ProviderSecrets, heard: HeardRefund) -> SeenRefund:
        """A refund as it is now."""
        reference = heard.reference or heard.provider_reference
        if reference is None:
            raise Unknown("no reference")
        async with self._pool.transaction() as db:
            row = await store.touch_refund(db, _book(credentials), reference, rules.ASKED_ENOUGH)
        if row is None:
            raise Unknown(reference)
        return _seen_refund(row)

    async def pay_out(self, credentials: ProviderSecrets, wanted: PayoutRequest) -> SeenPayout:
        """Send money to nowhere."""
        book_id, at = _book(credentials), now()
        magic = rules.magic(wanted.amount, wanted.currency)
        if magic == "refused" or wanted.account_number.endswith(rules.MISSING_END):
            raise ProviderRefused("The payout is refused.")
        state = _PAYOUT_STATES.get(magic, "completed")
        row = store.PayoutRow(
            state=state,
            amount=wanted.amount,
            fee=rules.fee(wanted.amount, wanted.currency) if magic == "costs" else Decimal(0),
            currency=wanted.currency,
            bank_code=wanted.bank_code,
            account_number=wanted.account_number,
            reason=rules.FAILED if state == "failed" else None,
        )
        async with self._pool.transaction() as db:
            is_new = await store.insert_payout(db, book_id, wanted.reference, row, at)
            if is_new and magic in ("reversed", "late"):
                await _tell_later(db, book_id, f"payout:{wanted.reference}", at)
            found = await store.find_payout(db, book_id, wanted.reference)
        if found is None or (is_new and magic == "unclear"):
            raise Unclear("no answer in time")
        return _seen_payout(found)

    async def find_payout(self, credentials: ProviderSecrets, reference: str) -> SeenPayout:
        """A payout as it is now."""
        async with self._pool.transaction() as db:
            row = await store.touch_payout(db, _book(credentials), reference, rules.ASKED_ENOUGH)
        if row is None:
            raise Unknown(reference)
        return _seen_payout(row)

    async def list_banks(self, credentials: ProviderSecrets, currency: str) -> Sequence[Bank]:
        """Its banks, in every currency."""
        return rules.BANKS

    async def resolve_name(
        self, credentials: ProviderSecrets, bank_code: str, account_number: str
    ) -> str:
        """A name for every number but the magic ones."""
        if bank_code not in {bank.code for bank in rules.BANKS}:
            raise ProviderRefused(rules.NO_SUCH_BANK)
        if account_number.endswith(rules.MISSING_END):
            raise ProviderRefused(rules.NO_SUCH_ACCOUNT)
        if account_number.endswith(rules.AWAY_END):
            raise NotReached("The bank doesn't answer.")
        return rules.holder(bank_code, account_number)

    async def read_statement(
        self, credentials: ProviderSecrets, asked: StatementRequest
    ) -> ProviderListPage:
        """A page in the order of time."""
        book_id, span = _book(credentials), (asked.since, asked.until)
        after = store.Place.read(asked.cursor)
        async with self._pool.reading() as db:
            match asked.of:
                case "payments":
                    rows = await store.list_payments_between(db, book_id, span, after)
                    page = ProviderListPage(payments=[_seen_payment(row) for row in rows])
                case "payouts":
                    rows = await store.list_payouts_between(db, book_id, span, after)
                    page = ProviderListPage(payouts=[_seen_payout(row) for row in rows])
                case "refunds":
                    rows = await store.list_refunds_between(db, book_id, span, after)
                    page = ProviderListPage(refunds=[_listed_refund(row) for row in rows])
                case "disputes":
                    rows = await store.list_disputes_between(db, book_id, span, after)
                    page = ProviderListPage(disputes=[_seen_dispute(row) for row in rows])
        return msgspec.structs.replace(page, following=store.following(rows))


async def _tell_later(db: Db, book_id: BookId, what: str, at: datetime) -> None:
    """Let money that went be sent back some seconds later, or the other way round."""
    job = NewJob(book_id=book_id, kind=rules.TOLD_LATER, subject_id=new_id(), key=what)
    await queue_job(db, job, at + rules.REVERSED_AFTER, at)


def _book(credentials: ProviderSecrets) -> BookId:
    return BookId(UUID(credentials.secrets[rules.BOOK]))


def _text(data: Mapping[str, Any], name: str) -> str | None:
    value = data.get(name)
    return value if isinstance(value, str) and value else None


def _as_id(text: str | None) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        return None


def _seen_dispute(row: Record) -> SeenDispute:
    return SeenDispute(
        provider_reference=f"sandbox-{row['id']}",
        state=row["state"],
        amount=row["amount"],
        currency=row["currency"],
        taken=Decimal(0) if row["state"] == "won" else row["amount"],
        fee=row["fee"],
        transaction_id=str(row["payment_id"]),
        reason=rules.DISPUTE_REASON,
        evidence_by=row["evidence_by"],
        opened_at=row["created_at"],
        closed_at=row["closed_at"],
    )


def _seen_payment(row: Record, disputes: Sequence[Record] = ()) -> SeenPayment:
    return SeenPayment(
        reference=row["reference"],
        transaction_id=str(row["id"]),
        state=row["state"],
        amount=row["amount"],
        fee=row["fee"],
        currency=row["currency"],
        paid_at=row["paid_at"],
        payer_name=row["payer_name"],
        account_number=row["account_number"],
        # A transfer that is undone costs nothing.
        returned_fee=row["fee"] if row["state"] == "reversed" else Decimal(0),
        disputes=[_seen_dispute(one) for one in disputes if one["payment_id"] == row["id"]],
    )


def _seen_payout(row: Record) -> SeenPayout:
    reference = row["reference"]
    return SeenPayout(
        reference=reference,
        provider_reference=f"sandbox-{reference}",
        state=row["state"],
        fee=row["fee"] if row["state"] == "completed" else Decimal(0),
        reason=row["reason"],
        amount=row["amount"],
        at=row.get("at"),
    )


def _seen_refund(row: Record) -> SeenRefund:
    reference = row["reference"]
    return SeenRefund(
        reference=reference,
        provider_reference=f"sandbox-{reference}",
        state=row["state"],
        reason=row["reason"],
    )


def _listed_refund(row: Record) -> ListedRefund:
    reference = row["reference"]
    return ListedRefund(
        reference=reference,
        provider_reference=f"sandbox-{reference}",
        state=row["state"],
        amount=row["amount"],
        transaction_id=str(row["payment_id"]),
        at=row["at"],
    )
