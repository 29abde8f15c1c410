"""Monnify: an account per payment, and its fate.

Amounts are written as they are. A login gives a token for about an hour. Payments, refunds and
payouts bear references of ours, by which they are looked up; Monnify's own contain pipes.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from urllib.parse import quote, urlencode

import msgspec

from tillhouse.kit.clock import now
from tillhouse.kit.json import encode
from tillhouse.providers.payments import monnify_answers as answers
from tillhouse.providers.payments import own_account
from tillhouse.providers.payments.calling import (
    TIMEOUT_S,
    BadKey,
    Caller,
    ProviderAnswer,
    ProviderRequest,
    settle,
)
from tillhouse.providers.payments.exponents import to_major
from tillhouse.providers.payments.monnify_hooks import MonnifyHook
from tillhouse.providers.payments.provider import (
    AccountRequest,
    Bank,
    Capabilities,
    HeardPayment,
    HeardRefund,
    ListedRefund,
    NotReached,
    OpenedAccount,
    PayoutRequest,
    ProviderBalance,
    ProviderListPage,
    ProviderName,
    ProviderRefused,
    ProviderSecrets,
    RefundRequest,
    SeenPayment,
    SeenPayout,
    SeenRefund,
    StatementOf,
    StatementRequest,
    Unknown,
)
from tillhouse.providers.payments.skeleton import (
    Adapter,
    beside,
    check_start,
    exactly,
    has_sha512,
    read_from,
)

BASE_URL = "https://api.monnify.com"
TEST_URL = "https://sandbox.monnify.com"
SIGNATURE = "monnify-signature"
CURRENCY = "NGN"
# A token is renewed before it ends.
_MARGIN = timedelta(minutes=1)
_NOTE_LENGTH_MAX = 16
_PAGE = 100
_PAGES_MAX = 20
_OLDEST = timedelta(days=365)
_TEXT_LENGTH_MAX = 60


class Monnify(Adapter):
    """Moves money by Monnify's API; without an address, by that of the book's environment."""

    name: ProviderName = "monnify"
    capabilities = Capabilities(
        opens="account",
        has_refunds=True,
        has_payouts=True,
        has_name_enquiry=True,
        has_statement=True,
        needs_email=True,
        currencies=frozenset({CURRENCY}),
    )
    secret_names: Sequence[str] = ("api_key", "secret_key", "contract_code", "wallet_account")
    test_prefixes: Sequence[str] = ("mk_test_",)
    hook = MonnifyHook

    def __init__(self, base_url: str | None = None, timeout_s: float = TIMEOUT_S) -> None:
        self._live = Caller(base_url or BASE_URL, timeout_s)
        self._test = Caller(base_url or TEST_URL, timeout_s)
        # By the digest of the keys, so that no secret lies here.
        self._tokens: dict[bytes, tuple[str, datetime]] = {}

    async def check(self, credentials: ProviderSecrets) -> None:
        """Log in, and ask for the balance of the wallet."""
        start = "MK_PROD_" if credentials.is_live else "MK_TEST_"
        check_start(credentials.secrets["api_key"], "API key", start)
        self._tokens.pop(_digest(credentials), None)
        await self.read_balances(credentials)

    async def find_account_id(self, credentials: ProviderSecrets) -> str | None:
        """The contract; no answer names the merchant whose it is."""
        return credentials.secrets["contract_code"]

    async def read_balances(self, credentials: ProviderSecrets) -> Sequence[ProviderBalance]:
        """The money that its wallet can pay out; that to be settled isn't told."""
        query = urlencode({"accountNumber": credentials.secrets["wallet_account"]})
        path = f"/api/v2/disbursements/wallet-balance?{query}"
        return own_account.monnify_balances(await self._get(credentials, path), CURRENCY)

    def is_signed(
        self, credentials: ProviderSecrets, headers: Mapping[str, str], body: bytes
    ) -> bool:
        """Whether the hook is Monnify's."""
        return has_sha512(headers, SIGNATURE, credentials.secrets["secret_key"], body)

    async def open_account(
        self, credentials: ProviderSecrets, wanted: AccountRequest
    ) -> OpenedAccount:
        """Begin a transaction, and open an account for it."""
        amount = _amount(wanted)
        transaction = await self._begun(credentials, wanted, amount)
        path = "/api/v1/merchant/bank-transfer/init-payment"
        body = {"transactionReference": transaction}
        at = now()
        return answers.opened(await self._post(credentials, path, body), wanted.amount, at)

    async def _begun(
        self, credentials: ProviderSecrets, wanted: AccountRequest, amount: object
    ) -> str:
        """The transaction of a reference, which Monnify begins once."""
        body = {
            "amount": amount,
            "customerName": wanted.name,
            "customerEmail": wanted.email,
            "paymentReference": wanted.reference,
            "paymentDescription": wanted.description[:_TEXT_LENGTH_MAX].ljust(3, "."),
            "currencyCode": wanted.currency,
            "contractCode": credentials.secrets["contract_code"],
            "paymentMethods": ["ACCOUNT_TRANSFER"],
        }
        if wanted.return_url is not None:
            body["redirectUrl"] = wanted.return_url
        path = "/api/v1/merchant/transactions/init-transaction"
        try:
            return answers.transaction(await self._post(credentials, path, body))
        except BadKey:
            raise
        except ProviderRefused as refusal:
            try:
                return answers.transaction(await self._queried(credentials, wanted.reference))
            except (Unknown, NotReached):
                raise refusal from None

    async def _queried(self, credentials: ProviderSecrets, reference: str) -> ProviderAnswer:
        query = urlencode({"paymentReference": reference})
        return await self._look(credentials, f"/api/v2/merchant/transactions/query?{query}")

    async def find_payments(
        self, credentials: ProviderSecrets, heard: HeardPayment
    ) -> Sequence[SeenPayment]:
        """All that was paid to a transaction: each transfer to its account is a payment."""
        found = await self._found(credentials, heard)
        if not (heard.may_be_back and found):
            return found
        returned = await beside(self._returned(credentials, found[0]))
        first = msgspec.structs.replace(found[0], returned=returned)
        rest = [msgspec.structs.replace(one, returned=Decimal(0)) for one in found[1:]]
        return [first, *rest]

    async def _found(
        self, credentials: ProviderSecrets, heard: HeardPayment
    ) -> Sequence[SeenPayment]:
        of = heard.provider_reference or answers.transaction_of(heard.transaction_id)
        try:
            if of is not None:
                path = f"/api/v2/transactions/{quote(of, safe='')}"
                return answers.payments(await self._look(credentials, path))
            if heard.reference is not None:
                return answers.payments(await self._queried(credentials, heard.reference))
        except Unknown:
            pass
        return []

    async def _returned(self, credentials: ProviderSecrets, one: SeenPayment) -> Decimal:
        """The sum of refunds that aren't ours: Monnify lists those of all payments only."""
        since = (one.paid_at or now() - _OLDEST) - timedelta(days=1)
        returned = Decimal(0)
        for page in range(_PAGES_MAX):
            told = await self._listed(credentials, "refunds", page)
            returned += _not_ours(told.refunds, one.transaction)
            if not told.goes_back_to(since):
                return returned
        raise NotReached("the list of refunds is too long")

    async def refund(self, credentials: ProviderSecrets, wanted: RefundRequest) -> SeenRefund:
        """Give a payment back; Monnify takes a reference once."""
        amount = _amount(wanted)
        body = {
            "transactionReference": answers.transaction_of(wanted.transaction_id),
            "refundReference": wanted.reference,
            # Its documents and its own client call it by different names.
            "refundAmount": amount,
            "amount": amount,
            "currencyCode": wanted.currency,
            "contractCode": credentials.secrets["contract_code"],
            "refundReason": wanted.reason[:_TEXT_LENGTH_MAX],
            "customerNote": wanted.reason[:_NOTE_LENGTH_MAX],
        }
        path = "/api/v1/refunds/initiate-refund"
        sending = read_from(self._post(credentials, path, body), answers.refund)
        asked = HeardRefund(wanted.reference, None)
        return await self._done(sending, lambda: self.find_refund(credentials, asked))

    async def find_refund(self, credentials: ProviderSecrets, heard: HeardRefund) -> SeenRefund:
        """A refund by our reference, which is Monnify's, too."""
        reference = heard.reference or heard.provider_reference
        if reference is None:
            raise Unknown("no reference")
        path = f"/api/v1/refunds/{quote(reference, safe='')}"
        return answers.refund(await self._look(credentials, path))

    async def pay_out(self, credentials: ProviderSecrets, wanted: PayoutRequest) -> SeenPayout:
        """Send money; Monnify takes a reference once."""
        body = {
            "amount": _amount(wanted),
            "reference": wanted.reference,
            "narration": wanted.narration[:_TEXT_LENGTH_MAX],
            "destinationBankCode": wanted.bank_code,
            "destinationAccountNumber": wanted.account_number,
            "destinationAccountName": wanted.account_name,
            "currency": wanted.currency,
            "sourceAccountNumber": credentials.secrets["wallet_account"],
            "async": False,
        }
        path = "/api/v2/disbursements/single"
        sending = read_from(self._post(credentials, path, body), answers.payout)
        return await self._sent(credentials, wanted.reference, sending)

    async def find_payout(self, credentials: ProviderSecrets, reference: str) -> SeenPayout:
        """A transfer by our reference."""
        query = urlencode({"reference": reference})
        path = f"/api/v2/disbursements/single/summary?{query}"
        return answers.payout(await self._look(credentials, path))

    async def list_banks(self, credentials: ProviderSecrets, currency: str) -> Sequence[Bank]:
        """The banks of Nigeria."""
        if currency != CURRENCY:
            return []
        return answers.banks(await self._look(credentials, "/api/v1/banks"))

    async def resolve_name(
        self, credentials: ProviderSecrets, bank_code: str, account_number: str
    ) -> str:
        """The name that an account is held in."""
        query = urlencode({"accountNumber": account_number, "bankCode": bank_code})
        path = f"/api/v1/disbursements/account/validate?{query}"
        try:
            return answers.account_name(await self._get(credentials, path))
        except Unknown as error:
            raise ProviderRefused(str(error)) from None

    async def read_statement(
        self, credentials: ProviderSecrets, asked: StatementRequest
    ) -> ProviderListPage:
        """A page of transactions, transfers or refunds, the newest first, until too old."""
        page = int(asked.cursor or 0)
        told = await self._listed(credentials, asked.of, page)
        following = str(page + 1) if told.goes_back_to(asked.since) else None
        return ProviderListPage(
            payments=told.payments, payouts=told.payouts, refunds=told.refunds, following=following
        )

    async def _listed(
        self, credentials: ProviderSecrets, of: StatementOf, page: int
    ) -> answers.MonnifyPage:
        query = urlencode({"page": str(page), "size": str(_PAGE)})
        match of:
            case "payments":
                path = f"/api/v1/transactions/search?{query}"
                return answers.transactions(await self._look(credentials, path))
            case "payouts":
                query = urlencode({"pageNo": str(page), "pageSize": str(_PAGE)})
                path = f"/api/v2/disbursements/single/transactions?{query}"
                return answers.transfers(await self._look(credentials, path))
            case "refunds":
                path = f"/api/v1/refunds?{query}"
                return answers.listed_refunds(await self._look(credentials, path))
            case "disputes":
                # Its API tells of none.
                return answers.MonnifyPage(began=(), is_last=True)

    def _is_missing(self, said: str) -> bool:
        return answers.is_missing(said)

    def _is_for_later(self, said: str) -> bool:
        # Another of the same amount went to this account a moment ago.
        return answers.is_too_alike(said)

    async def _get(self, credentials: ProviderSecrets, path: str) -> ProviderAnswer:
        return await self._ask(credentials, ProviderRequest(path=path, headers={}))

    async def _post(
        self, credentials: ProviderSecrets, path: str, body: Mapping[str, object]
    ) -> ProviderAnswer:
        headers = {"content-type": "application/json"}
        ask = ProviderRequest(
            path=path, headers=headers, method="POST", body=encode(body), changes=True
        )
        return await self._ask(credentials, ask)

    async def _ask(self, credentials: ProviderSecrets, ask: ProviderRequest) -> ProviderAnswer:
        """Ask with a token; one that Monnify no longer takes is renewed once."""
        is_kept = _digest(credentials) in self._tokens
        try:
            return await self._ask_once(credentials, ask)
        except BadKey:
            if self._tokens.pop(_digest(credentials), None) is None or not is_kept:
                raise
        return await self._ask_once(credentials, ask)

    async def _ask_once(self, credentials: ProviderSecrets, ask: ProviderRequest) -> ProviderAnswer:
        token = await beside(self._token(credentials))
        headers = {**ask.headers, "authorization": f"Bearer {token}"}
        ask = msgspec.structs.replace(ask, headers=headers)
        answer = await self._caller(credentials).call(ask)
        return answers.good(settle(answer, answers.words))

    async def _token(self, credentials: ProviderSecrets) -> str:
        kept = self._tokens.get(_digest(credentials))
        if kept is not None and now() < kept[1]:
            return kept[0]
        keys = f"{credentials.secrets['api_key']}:{credentials.secrets['secret_key']}"
        basic = base64.b64encode(keys.encode()).decode()
        headers = {"authorization": f"Basic {basic}", "content-type": "application/json"}
        ask = ProviderRequest(path="/api/v1/auth/login", headers=headers, method="POST", body=b"{}")
        at = now()
        answer = await self._caller(credentials).call(ask)
        token, lives = answers.token(answers.good(settle(answer, answers.words)))
        self._tokens[_digest(credentials)] = token, at + lives - _MARGIN
        return token

    def _caller(self, credentials: ProviderSecrets) -> Caller:
        return self._live if credentials.is_live else self._test


def _not_ours(refunds: Sequence[ListedRefund], transaction: str) -> Decimal:
    """The sum of a transaction's refunds that aren't ours, and that didn't fail."""
    there = [one for one in refunds if one.reference is None and one.state != "failed"]
    return sum((one.amount for one in there if one.transaction_id == transaction), Decimal(0))


def _digest(credentials: ProviderSecrets) -> bytes:
    keys = f"{credentials.secrets['api_key']}:{credentials.secrets['secret_key']}"
    return hashlib.sha256(keys.encode()).digest()


def _amount(wanted: AccountRequest | RefundRequest | PayoutRequest) -> object:
    if wanted.currency != CURRENCY:
        raise ProviderRefused(f"Monnify is used for {CURRENCY} only.")
    return exactly(lambda: to_major(wanted.amount, wanted.currency))
