"""Paystack: an account per payment, and its fate.

Amounts are counted in the hundredth part of every currency. A hook is signed with the secret key
itself, has no id and no time, and is only believed after a look at the transaction. Refunds bear
no reference of ours, so each carries it in its note for merchants.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from urllib.parse import quote, urlencode

import msgspec

from tillhouse.kit.clock import iso, now
from tillhouse.providers.payments import own_account
from tillhouse.providers.payments import paystack_answers as answers
from tillhouse.providers.payments.bearer import BearerAdapter, Lines
from tillhouse.providers.payments.calling import TIMEOUT_S, BadKey, Caller, ProviderAnswer
from tillhouse.providers.payments.envelope import account_name
from tillhouse.providers.payments.exponents import to_units
from tillhouse.providers.payments.paystack_hooks import PaystackHook
from tillhouse.providers.payments.provider import (
    AccountRequest,
    Bank,
    Capabilities,
    HeardPayment,
    HeardRefund,
    NotReached,
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
    Unknown,
)
from tillhouse.providers.payments.skeleton import beside, exactly, executed, has_sha512

BASE_URL = "https://api.paystack.co"
SIGNATURE = "x-paystack-signature"
# An account lives at least and at most so long.
_SHORTEST, _LONGEST = timedelta(minutes=15), timedelta(hours=8)
_PAGE = 100
_PAGES_OF_BANKS_MAX = 20
# The clock of Paystack and ours differ by less.
_CLOCKS_APART = timedelta(days=1)
# Before there was a Paystack.
_BEGAN = "2015-01-01T00:00:00.000Z"


class Paystack(BearerAdapter):
    """Moves money by Paystack's API at one address."""

    name: ProviderName = "paystack"
    capabilities = Capabilities(
        opens="account",
        takes_exact_only=True,
        has_refunds=True,
        has_payouts=True,
        has_name_enquiry=True,
        has_statement=True,
        has_disputes=True,
        needs_email=True,
        currencies=frozenset({"NGN"}),
    )
    secret_names: Sequence[str] = ("secret_key",)
    test_prefixes: Sequence[str] = ("sk_test_", "pk_test_")
    hook = PaystackHook
    key_starts = ("sk_live_", "sk_test_")
    balances = "/balance"
    lists: Mapping[StatementOf, tuple[str, Lines]] = {
        "payments": ("/transaction", answers.payments),
        "payouts": ("/transfer", answers.payouts),
        "refunds": ("/refund", answers.listed_refunds),
        "disputes": ("/dispute", answers.disputes),
    }

    def __init__(self, base_url: str = BASE_URL, timeout_s: float = TIMEOUT_S) -> None:
        super().__init__(Caller(base_url, timeout_s), answers.words, answers.good)

    async def find_account_id(self, credentials: ProviderSecrets) -> str | None:
        """The integration, which its customers name."""
        return own_account.paystack_id(await self._look(credentials, "/customer?perPage=1"))

    async def read_balances(self, credentials: ProviderSecrets) -> Sequence[ProviderBalance]:
        """The money that can be paid out; that to be settled isn't told."""
        return own_account.paystack_balances(await self._look(credentials, self.balances))

    def is_signed(
        self, credentials: ProviderSecrets, headers: Mapping[str, str], body: bytes
    ) -> bool:
        """Whether the hook is Paystack's."""
        return has_sha512(headers, SIGNATURE, credentials.secrets["secret_key"], body)

    async def open_account(
        self, credentials: ProviderSecrets, wanted: AccountRequest
    ) -> OpenedAccount:
        """Open an account for exactly this amount."""
        body = {
            "email": wanted.email,
            "amount": _units(wanted),
            "currency": wanted.currency,
            "reference": wanted.reference,
            "bank_transfer": {"account_expires_at": iso(_expiry(wanted.expires_at, now()))},
            "metadata": {"name": wanted.name, "description": wanted.description},
        }
        try:
            answer = await self._post(credentials, "/charge", body)
        except ProviderRefused as refusal:
            if isinstance(refusal, BadKey):
                raise
            return await self._opened_before(credentials, wanted.reference, refusal)
        return answers.opened(answer)

    async def _opened_before(
        self, credentials: ProviderSecrets, reference: str, refusal: ProviderRefused
    ) -> OpenedAccount:
        """The account of a reference that was used, if that is why it was refused."""
        try:
            answer = await self._get(credentials, f"/charge/{quote(reference, safe='')}")
            return answers.opened(answer)
        except (ProviderRefused, Unknown, NotReached):
            raise refusal from None

    async def find_payments(
        self, credentials: ProviderSecrets, heard: HeardPayment
    ) -> Sequence[SeenPayment]:
        """The transaction of a reference, as it is now."""
        if heard.reference is not None:
            path = f"/transaction/verify/{quote(heard.reference, safe='')}"
        elif heard.transaction_id is not None:
            path = f"/transaction/{quote(heard.transaction_id, safe='')}"
        else:
            return []
        try:
            answer = await self._look(credentials, path)
        except Unknown:
            return []
        payment = answers.payment(answer)
        if heard.may_be_back or payment.state == "reversed":
            payment = await beside(self._with_returns(credentials, payment))
        return [payment]

    async def _with_returns(
        self, credentials: ProviderSecrets, payment: SeenPayment
    ) -> SeenPayment:
        """The payment with its disputes, and with refunds that aren't ours.

        It counts as reversed only where these don't say why.
        """
        query = {"transaction": payment.transaction_id, "perPage": str(_PAGE)}
        query |= {"from": _BEGAN, "to": iso(now() + _CLOCKS_APART)}
        disputes: list[SeenDispute] = []
        async for page in self._pages(credentials, "/dispute", query):
            told = answers.disputes(page)
            disputes += [one for one in told if one.transaction_id == payment.transaction_id]
        ours = theirs = Decimal(0)
        async for page in self._refunds(credentials, payment.transaction_id, None):
            of_us, of_others = answers.refunded(page, payment)
            ours, theirs = ours + of_us, theirs + of_others
        taken = sum((one.taken for one in disputes), Decimal(0))
        return _with_returns(payment, (ours, theirs, taken), disputes)

    async def refund(self, credentials: ProviderSecrets, wanted: RefundRequest) -> SeenRefund:
        """Give a payment back, unless that was asked for before."""
        try:
            return await self.find_refund(
                credentials,
                HeardRefund(wanted.reference, None, wanted.transaction_id, since=wanted.since),
            )
        except Unknown:
            pass
        body = {
            "transaction": wanted.transaction_id,
            "amount": _units(wanted),
            "currency": wanted.currency,
            "customer_note": wanted.reason,
            "merchant_note": answers.note(wanted.reference),
        }
        answer = await executed(self._post(credentials, "/refund", body))
        return answers.refund(answer, wanted.reference)

    async def find_refund(self, credentials: ProviderSecrets, heard: HeardRefund) -> SeenRefund:
        """A refund by Paystack's id, or by ours among those of its payment."""
        if heard.provider_reference is not None:
            path = f"/refund/{quote(heard.provider_reference, safe='')}"
            return answers.refund(await self._look(credentials, path), heard.reference)
        if heard.reference is None:
            raise Unknown("no reference")
        async for answer in self._refunds(credentials, heard.transaction_id, heard.since):
            if (found := answers.refund_among(answer, heard.reference)) is not None:
                return found
        raise Unknown(f"no refund of {heard.reference}")

    def _refunds(
        self, credentials: ProviderSecrets, transaction_id: str | None, since: datetime | None
    ) -> AsyncIterator[ProviderAnswer]:
        """The refunds of a payment by pages, back to a moment."""
        query = {"perPage": str(_PAGE)}
        if transaction_id is not None:
            query["transaction"] = transaction_id
        if since is not None:
            query["from"] = iso(since - _CLOCKS_APART)
            query["to"] = iso(now() + _CLOCKS_APART)
        return self._pages(credentials, "/refund", query)

    async def pay_out(self, credentials: ProviderSecrets, wanted: PayoutRequest) -> SeenPayout:
        """Send money; Paystack takes a reference once."""
        return await self._sent(credentials, wanted.reference, self._transfer(credentials, wanted))

    async def _transfer(self, credentials: ProviderSecrets, wanted: PayoutRequest) -> SeenPayout:
        body = {
            "source": "balance",
            "amount": _units(wanted),
            "currency": wanted.currency,
            "recipient": await self._recipient(credentials, wanted),
            "reference": wanted.reference,
            "reason": wanted.narration,
        }
        return answers.payout(await self._post(credentials, "/transfer", body))

    async def _recipient(self, credentials: ProviderSecrets, wanted: PayoutRequest) -> str:
        """The recipient of an account: the same one, however often it is made."""
        body = {
            "type": "nuban",
            "name": wanted.account_name,
            "account_number": wanted.account_number,
            "bank_code": wanted.bank_code,
            "currency": wanted.currency,
        }
        answer = await self._post(credentials, "/transferrecipient", body, changes=False)
        return answers.recipient(answer)

    async def find_payout(self, credentials: ProviderSecrets, reference: str) -> SeenPayout:
        """A transfer by our reference."""
        path = f"/transfer/verify/{quote(reference, safe='')}"
        return answers.payout(await self._look(credentials, path))

    async def list_banks(self, credentials: ProviderSecrets, currency: str) -> Sequence[Bank]:
        """The banks of a currency, page by page."""
        banks: list[Bank] = []
        query = {"currency": currency, "use_cursor": "true", "perPage": str(_PAGE)}
        for _ in range(_PAGES_OF_BANKS_MAX):
            answer = await self._look(credentials, f"/bank?{urlencode(query)}")
            page, after = answers.banks(answer)
            banks += page
            if not after:
                break
            query["next"] = after
        return banks

    async def resolve_name(
        self, credentials: ProviderSecrets, bank_code: str, account_number: str
    ) -> str:
        """The name that an account is held in."""
        query = urlencode({"account_number": account_number, "bank_code": bank_code})
        try:
            return account_name(await self._get(credentials, f"/bank/resolve?{query}"))
        except Unknown as error:
            raise ProviderRefused(str(error)) from None

    def _span(self, asked: StatementRequest) -> Mapping[str, str]:
        return {"perPage": str(_PAGE), "from": iso(asked.since), "to": iso(asked.until)}

    def _has_more(self, answer: ProviderAnswer, page: int) -> bool:
        return answers.has_more(answer, page)


def _with_returns(
    payment: SeenPayment,
    gone: tuple[Decimal, Decimal, Decimal],
    disputes: Sequence[SeenDispute],
) -> SeenPayment:
    """A payment with its returns: (by refunds of ours, by others, by disputes)."""
    is_explained = payment.state == "reversed" and sum(gone) >= payment.amount
    state = "successful" if is_explained else payment.state
    return msgspec.structs.replace(payment, state=state, returned=gone[1], disputes=disputes)


def _units(wanted: AccountRequest | RefundRequest | PayoutRequest) -> int:
    return exactly(lambda: to_units("paystack", wanted.amount, wanted.currency))


def _expiry(wanted: datetime | None, at: datetime) -> datetime:
    """The end of an account's life, within Paystack's bounds."""
    if wanted is None:
        return at + _LONGEST
    return min(max(wanted, at + _SHORTEST), at + _LONGEST)
