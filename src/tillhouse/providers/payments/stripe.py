"""Stripe: a page per payment (Checkout), and its fate.

Amounts are counted in units of each currency, by Stripe's own table. Requests are forms, and those
that change something bear our reference as their idempotency key, which Stripe keeps for a day, for
all keys of the account.
"""

import hashlib
import hmac
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta
from urllib.parse import quote, urlencode

import msgspec

from tillhouse.kit.clock import now
from tillhouse.providers.payments import own_account
from tillhouse.providers.payments import stripe_answers as answers
from tillhouse.providers.payments.calling import (
    TIMEOUT_S,
    Caller,
    ProviderAnswer,
    ProviderRequest,
    settle,
)
from tillhouse.providers.payments.exponents import currencies_of, to_units
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
    ProviderListPage,
    ProviderName,
    ProviderRefused,
    ProviderSecrets,
    RefundRequest,
    SeenPayment,
    SeenPayout,
    SeenRefund,
    StatementRequest,
    Unknown,
)
from tillhouse.providers.payments.skeleton import Adapter, beside, check_start, exactly, executed
from tillhouse.providers.payments.stripe_hooks import StripeHook

BASE_URL = "https://api.stripe.com"
VERSION = "2024-06-20"
SIGNATURE = "stripe-signature"
TOLERANCE = timedelta(minutes=5)
_SHORTEST, _LONGEST = timedelta(minutes=31), timedelta(hours=24)
# Ends that have to be moved are moved to a grid, so that a repeated request is the same.
_GRID_S = 600
_CONFLICT = 409
_PAGE, _PAGES_MAX = 100, 20
_NO_PAYOUTS = "Stripe sends money to its account's own bank only."
_OF_CHARGE = "latest_charge.balance_transaction"


class Stripe(Adapter):
    """Takes money by Stripe's API at one address."""

    name: ProviderName = "stripe"
    capabilities = Capabilities(
        opens="page",
        takes_exact_only=True,
        has_refunds=True,
        has_statement=True,
        has_disputes=True,
        currencies=currencies_of("stripe"),
    )
    secret_names: Sequence[str] = ("secret_key", "webhook_secret")
    test_prefixes: Sequence[str] = ("sk_test_", "rk_test_", "pk_test_")
    hook = StripeHook

    def __init__(self, base_url: str = BASE_URL, timeout_s: float = TIMEOUT_S) -> None:
        self._caller = Caller(base_url, timeout_s)

    async def check(self, credentials: ProviderSecrets) -> None:
        """Ask for the balance."""
        kind = "live" if credentials.is_live else "test"
        secret = credentials.secrets["secret_key"]
        check_start(secret, "secret key", f"sk_{kind}_", f"rk_{kind}_")
        await self._get(credentials, "/v1/balance")

    async def find_account_id(self, credentials: ProviderSecrets) -> str | None:
        """The account of a key; a restricted one may not ask."""
        try:
            return own_account.stripe_id(await self._get(credentials, "/v1/account"))
        except ProviderRefused:
            return None

    async def read_balances(self, credentials: ProviderSecrets) -> Sequence[ProviderBalance]:
        """The money that is available, and that is pending."""
        return own_account.stripe_balances(await self._look(credentials, "/v1/balance"))

    def is_signed(
        self, credentials: ProviderSecrets, headers: Mapping[str, str], body: bytes
    ) -> bool:
        """Whether the hook is Stripe's, and of the last minutes."""
        at, signatures = _parts(headers.get(SIGNATURE, ""))
        if at is None or abs(now().timestamp() - at) > TOLERANCE.total_seconds():
            return False
        key = credentials.secrets["webhook_secret"].encode()
        expected = hmac.new(key, f"{at}.".encode() + body, hashlib.sha256).hexdigest().encode()
        return any(hmac.compare_digest(expected, one.encode()) for one in signatures)

    async def open_account(
        self, credentials: ProviderSecrets, wanted: AccountRequest
    ) -> OpenedAccount:
        """Open a page to pay exactly this amount on."""
        if wanted.return_url is None:
            raise ProviderRefused("Stripe's page needs an address to lead back to.")
        form = {
            "mode": "payment",
            "client_reference_id": wanted.reference,
            "success_url": wanted.return_url,
            "cancel_url": wanted.return_url,
            "line_items[0][quantity]": "1",
            "line_items[0][price_data][currency]": wanted.currency.lower(),
            "line_items[0][price_data][unit_amount]": str(_units(wanted)),
            "line_items[0][price_data][product_data][name]": wanted.description[:250] or "Payment",
            "metadata[reference]": wanted.reference,
            "payment_intent_data[metadata][reference]": wanted.reference,
        }
        ends = _end(wanted.expires_at, now())
        if ends is not None:
            form["expires_at"] = str(ends)
        answer = await self._post(credentials, "/v1/checkout/sessions", form, wanted.reference)
        return answers.opened(answer)

    async def find_payments(
        self, credentials: ProviderSecrets, heard: HeardPayment
    ) -> Sequence[SeenPayment]:
        """The payment of an intent, of a page, or of a reference."""
        try:
            found = await self._found(credentials, heard)
        except Unknown:
            return []
        seen = [await beside(self._with_returns(credentials, one)) for one in found]
        return [one for one in seen if heard.reference in (None, one.reference)]

    async def _found(
        self, credentials: ProviderSecrets, heard: HeardPayment
    ) -> Sequence[answers.StripePayment]:
        if heard.transaction_id is not None:
            query = urlencode({"expand[]": _OF_CHARGE})
            path = f"/v1/payment_intents/{quote(heard.transaction_id, safe='')}?{query}"
            return [answers.payment(await self._look(credentials, path))]
        if heard.provider_reference is not None:
            query = urlencode({"expand[]": f"payment_intent.{_OF_CHARGE}"})
            path = f"/v1/checkout/sessions/{quote(heard.provider_reference, safe='')}?{query}"
            return answers.payments_of_page(await self._look(credentials, path))
        if heard.reference is not None:
            # A search may not find the changes of the last minute.
            search = f"metadata['reference']:'{heard.reference}'"
            query = urlencode({"query": search, "expand[]": f"data.{_OF_CHARGE}"})
            path = f"/v1/payment_intents/search?{query}"
            return answers.payments(await self._look(credentials, path))[0]
        return []

    async def _with_returns(
        self, credentials: ProviderSecrets, one: answers.StripePayment
    ) -> SeenPayment:
        """The payment, with returns that aren't refunds of ours, and its disputes."""
        query = {"payment_intent": one.seen.transaction_id, "limit": str(_PAGE)}
        seen = one.seen
        if one.is_disputed:
            answer = await self._look(credentials, f"/v1/disputes?{urlencode(query)}")
            seen = msgspec.structs.replace(seen, disputes=answers.disputes(answer)[0])
        if one.has_refunds:
            told = self._refunds(
                credentials, seen.transaction_id, expand="data.balance_transaction"
            )
            seen = answers.with_refunds([answer async for answer in told], seen)
        return seen

    async def _refunds(
        self, credentials: ProviderSecrets, transaction_id: str, **more: str
    ) -> AsyncIterator[ProviderAnswer]:
        """The refunds of a payment by pages: a list that isn't read to its end proves nothing."""
        query = {"payment_intent": transaction_id, "limit": str(_PAGE)}
        query |= {f"{name}[]": value for name, value in more.items()}
        for _ in range(_PAGES_MAX):
            answer = await self._look(credentials, f"/v1/refunds?{urlencode(query)}")
            yield answer
            following = answers.following_refund(answer)
            if following is None:
                return
            query["starting_after"] = following
        raise NotReached("the list of refunds is too long")

    async def refund(self, credentials: ProviderSecrets, wanted: RefundRequest) -> SeenRefund:
        """Give a payment back, unless that was asked for before."""
        units = _units(wanted)
        try:
            return await self.find_refund(
                credentials, HeardRefund(wanted.reference, None, wanted.transaction_id)
            )
        except Unknown:
            pass
        form = {
            "payment_intent": wanted.transaction_id,
            "amount": str(units),
            "reason": "requested_by_customer",
            "metadata[reference]": wanted.reference,
            "metadata[reason]": wanted.reason[:500],
        }
        answer = await executed(self._post(credentials, "/v1/refunds", form, wanted.reference))
        return answers.refund(answer)

    async def find_refund(self, credentials: ProviderSecrets, heard: HeardRefund) -> SeenRefund:
        """A refund by Stripe's id, or by ours among those of its payment."""
        if heard.provider_reference is not None:
            path = f"/v1/refunds/{quote(heard.provider_reference, safe='')}"
            return answers.refund(await self._look(credentials, path))
        if heard.reference is None or heard.transaction_id is None:
            raise Unknown("neither a refund's id nor its payment's")
        async for answer in self._refunds(credentials, heard.transaction_id):
            if (found := answers.refund_among(answer, heard.reference)) is not None:
                return found
        raise Unknown(f"no refund of {heard.reference}")

    async def pay_out(self, credentials: ProviderSecrets, wanted: PayoutRequest) -> SeenPayout:
        """Refuse: there is no such thing at Stripe."""
        raise ProviderRefused(_NO_PAYOUTS)

    async def find_payout(self, credentials: ProviderSecrets, reference: str) -> SeenPayout:
        """Know none."""
        raise Unknown(_NO_PAYOUTS)

    async def list_banks(self, credentials: ProviderSecrets, currency: str) -> Sequence[Bank]:
        """List none, since there are no payouts."""
        return []

    async def resolve_name(
        self, credentials: ProviderSecrets, bank_code: str, account_number: str
    ) -> str:
        """Refuse: Stripe knows no names."""
        raise ProviderRefused(_NO_PAYOUTS)

    async def read_statement(
        self, credentials: ProviderSecrets, asked: StatementRequest
    ) -> ProviderListPage:
        """A page of payments, refunds or disputes, the newest first; there are no payouts."""
        if asked.of == "payouts":
            return ProviderListPage()
        query = {
            "created[gte]": str(int(asked.since.timestamp())),
            "created[lte]": str(int(asked.until.timestamp())),
            "limit": str(_PAGE),
        }
        if asked.cursor is not None:
            query["starting_after"] = asked.cursor
        if asked.of == "disputes":
            answer = await self._look(credentials, f"/v1/disputes?{urlencode(query)}")
            disputes, following = answers.disputes(answer)
            return ProviderListPage(disputes=disputes, following=following)
        if asked.of == "refunds":
            answer = await self._look(credentials, f"/v1/refunds?{urlencode(query)}")
            refunds, following = answers.listed_refunds(answer)
            return ProviderListPage(refunds=refunds, following=following)
        query["expand[]"] = f"data.{_OF_CHARGE}"
        answer = await self._look(credentials, f"/v1/payment_intents?{urlencode(query)}")
        found, following = answers.statement(answer)
        seen = [await beside(self._with_returns(credentials, one)) for one in found]
        return ProviderListPage(payments=seen, following=following)

    async def _get(self, credentials: ProviderSecrets, path: str) -> ProviderAnswer:
        ask = ProviderRequest(path=path, headers=_headers(credentials))
        return settle(await self._caller.call(ask), answers.words)

    async def _post(
        self, credentials: ProviderSecrets, path: str, form: Mapping[str, str], key: str
    ) -> ProviderAnswer:
        headers = {
            **_headers(credentials),
            "content-type": "application/x-www-form-urlencoded",
            "idempotency-key": f"{path}/{key}",
        }
        body = urlencode(form).encode()
        ask = ProviderRequest(path=path, headers=headers, method="POST", body=body, changes=True)
        answer = await self._caller.call(ask)
        if answer.status == _CONFLICT:
            raise answer.lost("another request with this key is under way")
        return settle(answer, answers.words)


def _headers(credentials: ProviderSecrets) -> dict[str, str]:
    key = credentials.secrets["secret_key"]
    return {"authorization": f"Bearer {key}", "stripe-version": VERSION}


def _units(wanted: AccountRequest | RefundRequest) -> int:
    return exactly(lambda: to_units("stripe", wanted.amount, wanted.currency))


def _end(wanted: datetime | None, at: datetime) -> int | None:
    """The end of a page, within half an hour to a day; None is Stripe's usual day."""
    if wanted is None or wanted >= at + _LONGEST:
        return None
    if wanted > at + _SHORTEST:
        return int(wanted.timestamp())
    return -(-int((at + _SHORTEST).timestamp()) // _GRID_S) * _GRID_S


def _parts(header: str) -> tuple[int | None, list[str]]:
    """The time and the signatures of a header."""
    pairs = [part.strip().partition("=") for part in header.split(",")]
    times = [value for name, _, value in pairs if name == "t"]
    is_time = len(times) == 1 and times[0].isascii() and times[0].isdigit() and len(times[0]) < 12
    return int(times[0]) if is_time else None, [value for name, _, value in pairs if name == "v1"]
