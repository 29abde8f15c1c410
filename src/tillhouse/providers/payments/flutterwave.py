"""Flutterwave (v3): an account per payment, and its fate.

Amounts are written as they are. A hook bears only a word that both sides know, so its body says
nothing: everything is looked up. Refunds bear our reference in their comment.
"""

import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from urllib.parse import quote, urlencode

import msgspec

from tillhouse.kit.clock import now
from tillhouse.providers.payments import flutterwave_answers as answers
from tillhouse.providers.payments import own_account
from tillhouse.providers.payments.bearer import BearerAdapter, Lines
from tillhouse.providers.payments.calling import TIMEOUT_S, Caller, ProviderAnswer
from tillhouse.providers.payments.envelope import account_name
from tillhouse.providers.payments.exponents import to_major
from tillhouse.providers.payments.flutterwave_hooks import FlutterwaveHook
from tillhouse.providers.payments.provider import (
    AccountRequest,
    Bank,
    Capabilities,
    HeardPayment,
    HeardRefund,
    OpenedAccount,
    PayoutRequest,
    ProviderBalance,
    ProviderName,
    ProviderRefused,
    ProviderSecrets,
    RefundRequest,
    SeenDispute,
    SeenPayment,
    SeenPayout,
    SeenRefund,
    StatementOf,
    StatementRequest,
    Unclear,
    Unknown,
)
from tillhouse.providers.payments.skeleton import beside, exactly, executed, read_from

BASE_URL = "https://api.flutterwave.com/v3"
TOKEN = "verif-hash"  # noqa: S105 - the name of a header
_SHORTEST, _USUAL, _LONGEST = timedelta(minutes=1), timedelta(hours=1), timedelta(days=365)
_COUNTRIES = {"NGN": "NG"}


class Flutterwave(BearerAdapter):
    """Moves money by Flutterwave's API at one address."""

    name: ProviderName = "flutterwave"
    capabilities = Capabilities(
        opens="account",
        signs_hooks=False,
        has_refunds=True,
        has_payouts=True,
        has_name_enquiry=True,
        has_statement=True,
        has_disputes=True,
        needs_email=True,
        currencies=frozenset(_COUNTRIES),
    )
    secret_names: Sequence[str] = ("secret_key", "secret_hash")
    test_prefixes: Sequence[str] = ("flwseck_test", "flwpubk_test")
    hook = FlutterwaveHook
    key_starts = ("FLWSECK-", "FLWSECK_TEST-")
    balances = "/balances"
    lists: Mapping[StatementOf, tuple[str, Lines]] = {
        "payments": ("/transactions", answers.arrived),
        "payouts": ("/transfers", answers.payouts),
        "refunds": ("/refunds", answers.listed_refunds),
        "disputes": ("/chargebacks", answers.chargebacks),
    }

    def __init__(self, base_url: str = BASE_URL, timeout_s: float = TIMEOUT_S) -> None:
        super().__init__(Caller(base_url, timeout_s), answers.words, answers.good)

    async def find_account_id(self, credentials: ProviderSecrets) -> str | None:
        """The account, which its transactions name."""
        return own_account.flutterwave_id(await self._look(credentials, "/transactions?page=1"))

    async def read_balances(self, credentials: ProviderSecrets) -> Sequence[ProviderBalance]:
        """The money that can be paid out, and that is to be settled."""
        return own_account.flutterwave_balances(await self._look(credentials, self.balances))

    def is_signed(
        self, credentials: ProviderSecrets, headers: Mapping[str, str], body: bytes
    ) -> bool:
        """Whether the hook's sender knows the word; it says nothing about the body."""
        word = credentials.secrets["secret_hash"].encode()
        return bool(word) and hmac.compare_digest(word, headers.get(TOKEN, "").encode())

    async def open_account(
        self, credentials: ProviderSecrets, wanted: AccountRequest
    ) -> OpenedAccount:
        """Open an account; whatever is paid into it bears our reference."""
        lives = _life(wanted.expires_at, now())
        body = {
            "tx_ref": wanted.reference,
            "amount": _amount(wanted),
            "currency": _known(wanted.currency),
            "email": wanted.email,
            "fullname": wanted.name,
            "narration": wanted.description[:100],
            "is_permanent": False,
            "expires": int(lives.total_seconds()),
        }
        at = now()
        answer = await self._post(credentials, "/charges?type=bank_transfer", body)
        return answers.opened(answer, at + lives)

    async def find_payments(
        self, credentials: ProviderSecrets, heard: HeardPayment
    ) -> Sequence[SeenPayment]:
        """The transaction of an id, or all of a reference."""
        found = await self._found(credentials, heard)
        if not heard.may_be_back:
            return found
        return [await beside(self._with_returns(credentials, one)) for one in found]

    async def _found(
        self, credentials: ProviderSecrets, heard: HeardPayment
    ) -> Sequence[SeenPayment]:
        if heard.transaction_id is not None:
            path = f"/transactions/{quote(heard.transaction_id, safe='')}/verify"
            return await self._verified(credentials, path)
        if heard.reference is None:
            return []
        query = urlencode({"tx_ref": heard.reference})
        path = f"/transactions/verify_by_reference?{query}"
        found = await self._verified(credentials, path)
        asking = self._look(credentials, f"/transactions?{query}")
        try:
            answer = await (beside(asking) if found else asking)
        except Unknown:
            return []
        listed = answers.payments(answer, heard.reference)
        ids = {one.transaction_id for one in found}
        return [*found, *(one for one in listed if one.transaction_id not in ids)]

    async def _verified(self, credentials: ProviderSecrets, path: str) -> Sequence[SeenPayment]:
        try:
            return [answers.payment(await self._look(credentials, path))]
        except Unknown:
            return []

    async def _with_returns(self, credentials: ProviderSecrets, one: SeenPayment) -> SeenPayment:
        """The payment with its chargebacks, and with refunds that aren't ours."""
        refunds = await self._refunds(credentials, one.transaction_id)
        returned = answers.not_ours(refunds)
        since = (one.paid_at or now() - _LONGEST).date() - timedelta(days=1)
        query = {"from": since.isoformat(), "to": (now() + timedelta(days=1)).date().isoformat()}
        disputes: list[SeenDispute] = []
        # Reconciliation lists those that are beyond.
        async for answer in self._pages(credentials, "/chargebacks", query, proves=False):
            told = answers.chargebacks(answer)
            disputes += [of for of in told if of.transaction_id == one.transaction_id]
        return msgspec.structs.replace(one, returned=returned, disputes=disputes)

    async def refund(self, credentials: ProviderSecrets, wanted: RefundRequest) -> SeenRefund:
        """Give a payment back, unless that was asked for before."""
        amount = _amount(wanted)
        for one in await self._refunds(credentials, wanted.transaction_id):
            if one.reference == wanted.reference:
                return one.seen(wanted.reference)
            if one.may_be(amount):
                raise Unclear("a refund of this amount is there that doesn't say whose it is")
        path = f"/transactions/{quote(wanted.transaction_id, safe='')}/refund"
        body = {"amount": amount, "comments": answers.comment(wanted.reference, wanted.reason)}
        answer = await executed(self._post(credentials, path, body))
        return answers.refund(answer).seen(wanted.reference)

    async def find_refund(self, credentials: ProviderSecrets, heard: HeardRefund) -> SeenRefund:
        """A refund by Flutterwave's id, or by ours among those of its payment."""
        if heard.provider_reference is not None:
            path = f"/refunds/{quote(heard.provider_reference, safe='')}"
            one = answers.refund(await self._look(credentials, path))
            return one.seen(heard.reference)
        if heard.reference is None:
            raise Unknown("no reference")
        for one in await self._refunds(credentials, heard.transaction_id):
            if one.reference == heard.reference:
                return one.seen(heard.reference)
        raise Unknown(f"no refund of {heard.reference}")

    async def _refunds(
        self, credentials: ProviderSecrets, transaction_id: str | None
    ) -> Sequence[answers.FlutterwaveRefund]:
        """The refunds of a payment, on all pages."""
        found: list[answers.FlutterwaveRefund] = []
        query = {} if transaction_id is None else {"id": transaction_id}
        async for answer in self._pages(credentials, "/refunds", query):
            told = answers.refunds(answer)
            found += [one for one in told if transaction_id in (None, str(one.tx_id))]
        return found

    async def pay_out(self, credentials: ProviderSecrets, wanted: PayoutRequest) -> SeenPayout:
        """Send money, unless a transfer has this reference."""
        try:
            return await self.find_payout(credentials, wanted.reference)
        except Unknown:
            pass
        body = {
            "account_bank": wanted.bank_code,
            "account_number": wanted.account_number,
            "amount": _amount(wanted),
            "currency": _known(wanted.currency),
            "debit_currency": wanted.currency,
            "reference": wanted.reference,
            "narration": wanted.narration[:100],
            "beneficiary_name": wanted.account_name[:100],
        }
        sending = read_from(self._post(credentials, "/transfers", body), answers.payout)
        return await self._sent(credentials, wanted.reference, sending)

    async def find_payout(self, credentials: ProviderSecrets, reference: str) -> SeenPayout:
        """A transfer by our reference, on any page: a filter that isn't heeded lists them all."""
        async for answer in self._pages(credentials, "/transfers", {"reference": reference}):
            if (found := answers.payout_among(answer, reference)) is not None:
                return found
        raise Unknown(f"no transfer of {reference}")

    async def list_banks(self, credentials: ProviderSecrets, currency: str) -> Sequence[Bank]:
        """The banks of the country of a currency."""
        country = _COUNTRIES.get(currency)
        if country is None:
            return []
        return answers.banks(await self._look(credentials, f"/banks/{country}"))

    async def resolve_name(
        self, credentials: ProviderSecrets, bank_code: str, account_number: str
    ) -> str:
        """The name that an account is held in."""
        body = {"account_number": account_number, "account_bank": bank_code}
        answer = await self._post(credentials, "/accounts/resolve", body, changes=False)
        return account_name(answer)

    def _span(self, asked: StatementRequest) -> Mapping[str, str]:
        return {"from": asked.since.date().isoformat(), "to": asked.until.date().isoformat()}

    def _has_more(self, answer: ProviderAnswer, page: int) -> bool:
        return page < answers.page_count(answer)

    def _is_missing(self, said: str) -> bool:
        return answers.is_missing(said)


def _amount(wanted: AccountRequest | RefundRequest | PayoutRequest) -> object:
    return exactly(lambda: to_major(wanted.amount, wanted.currency))


def _known(currency: str) -> str:
    if currency not in _COUNTRIES:
        raise ProviderRefused(f"Flutterwave is used for {', '.join(_COUNTRIES)} only.")
    return currency


def _life(ends: datetime | None, at: datetime) -> timedelta:
    """How long an account lives, within Flutterwave's bounds."""
    if ends is None:
        return _USUAL
    return min(max(ends - at, _SHORTEST), _LONGEST)
