"""The Protocol of payment providers, with its requests and answers.

Every call carries a reference of ours, so that repeating one changes nothing. A call that fails
raises one of three: `ProviderRefused` (the provider said no), `NotReached` (nothing was executed,
so it may be tried again), `Unclear` (it may have been executed: ask by the reference, never as
failed).

A reference is 16 to 50 small letters, digits and hyphens, which every provider takes.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Literal, Protocol, TypeAlias

import msgspec

from tillhouse.kit.errors import Problem

ProviderName = Literal["sandbox", "paystack", "flutterwave", "monnify", "stripe"]
Opens = Literal["account", "page"]
PaymentState = Literal["pending", "successful", "failed", "reversed"]
PayoutState = Literal["processing", "completed", "failed", "reversed"]
RefundState = Literal["pending", "successful", "failed"]
DisputeState = Literal["opened", "evidence_due", "won", "lost"]
StatementOf = Literal["payments", "payouts", "refunds", "disputes"]

PART = "#"
"""It follows the provider's own id where several payments are of one transaction."""
OWN_REFUND = "rf-"
"""Our references of refunds begin so."""
# The secret that names an account, in this order; others name hooks or contracts of it.
_NAMING = ("api_key", "secret_key")


class ProviderRefused(Exception):
    """The provider refuses for good; the text says why, in its words."""


class NotReached(Exception):
    """Nothing was executed: the provider is away, or busy."""


class Unclear(Exception):
    """No answer that says whether it was executed."""


class Unknown(Exception):
    """The provider knows nothing by this reference."""


def in_words(error: Exception) -> str:
    """The failure of a call, as people read it."""
    match error:
        case NotReached():
            return f"not reached: {error}"
        case Unclear():
            return f"no clear answer: {error}"
        case ProviderRefused():
            return f"refused: {error}"
        case Unknown():
            return f"not known there: {error}"
        case TimeoutError():
            return "no answer in time"
        case Problem():
            return error.message
        case _:
            return f"{type(error).__name__}: {error}"


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """The abilities of a provider, which decide about the requests to it."""

    # An account number to transfer to, or else a page of the provider's to pay on.
    opens: Opens
    # It turns other amounts away by itself.
    takes_exact_only: bool = False
    # Whether the body of a hook is signed; else it is only a hint, and is looked up.
    signs_hooks: bool = True
    has_refunds: bool = False
    has_payouts: bool = False
    has_name_enquiry: bool = False
    # It lists payments, payouts and refunds.
    has_statement: bool = False
    # It tells of disputes (chargebacks) by its API.
    has_disputes: bool = False
    # It opens nothing without the payer's e-mail address.
    needs_email: bool = False
    # None: any.
    currencies: frozenset[str] | None = None


class ProviderSecrets(msgspec.Struct, frozen=True):
    """The secrets of one connection, by the names that the provider gives them."""

    secrets: Mapping[str, str]
    is_live: bool

    def __repr__(self) -> str:
        """Keep the secrets out of logs and tracebacks."""
        return "Credentials(…)"

    @property
    def key(self) -> str:
        """The secret that names the account: with the same one, the account is the same."""
        return next((self.secrets[name] for name in _NAMING if name in self.secrets), "")


class AccountRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The purpose that an account (or a page) to pay into is opened for."""

    reference: str
    amount: Decimal
    currency: str
    # The payer's, for providers that need one; it is never made up, and never the merchant's own.
    email: str | None
    name: str
    description: str
    expires_at: datetime | None = None
    # Where a page of the provider's leads back to.
    return_url: str | None = None


class OpenedAccount(msgspec.Struct, frozen=True, kw_only=True):
    """An account (or a page) that can be paid into."""

    # The provider's own name of it.
    provider_reference: str
    account_number: str | None = None
    bank_name: str | None = None
    account_name: str | None = None
    url: str | None = None
    expires_at: datetime | None = None


class SeenDispute(msgspec.Struct, frozen=True, kw_only=True):
    """A dispute of a payment as the provider knows it now: the payer's bank wants it back."""

    # The provider's own, once and for ever.
    provider_reference: str
    state: DisputeState
    # The disputed amount, in the currency of the payment.
    amount: Decimal
    currency: str
    # The part of the amount that the provider has taken and not given back.
    taken: Decimal = Decimal(0)
    # The charge for the dispute, less the part that was given back.
    fee: Decimal = Decimal(0)
    # The provider's name of the payment.
    transaction_id: str | None = None
    reason: str | None = None
    # Evidence counts until then.
    evidence_by: datetime | None = None
    opened_at: datetime | None = None
    closed_at: datetime | None = None


class SeenPayment(msgspec.Struct, frozen=True, kw_only=True):
    """A payment as the provider knows it now."""

    # Ours; None where the provider tells of a payment to an account of which we know nothing.
    reference: str | None
    # The provider's own, once and for ever.
    transaction_id: str
    state: PaymentState
    # The money for the business, before fees; without costs that the payer bore on top.
    amount: Decimal
    fee: Decimal
    currency: str
    paid_at: datetime | None = None
    payer_name: str | None = None
    account_number: str | None = None
    # The part that went back otherwise than by refunds of ours; None: not looked at. Where
    # the state is reversed, all that those leave of it went back.
    returned: Decimal | None = None
    # The part of the fee that came back with it.
    returned_fee: Decimal = Decimal(0)
    # Those that the provider tells of.
    disputes: Sequence[SeenDispute] = ()

    @property
    def transaction(self) -> str:
        """The provider's transaction that it is, or is a part of."""
        return self.transaction_id.partition(PART)[0]


class PayoutRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Money that is to leave."""

    reference: str
    amount: Decimal
    currency: str
    bank_code: str
    account_number: str
    account_name: str
    narration: str


class SeenPayout(msgspec.Struct, frozen=True, kw_only=True):
    """A payout as the provider knows it now."""

    reference: str
    provider_reference: str | None
    state: PayoutState
    fee: Decimal = Decimal(0)
    reason: str | None = None
    # None where the provider doesn't tell it here.
    amount: Decimal | None = None
    # When it was asked for, as far as the provider tells.
    at: datetime | None = None


class RefundRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A payment that is to be given back, wholly or in part."""

    reference: str
    transaction_id: str
    amount: Decimal
    currency: str
    reason: str
    # It was asked for after this moment, as far as our clock knows.
    since: datetime | None = None


class SeenRefund(msgspec.Struct, frozen=True, kw_only=True):
    """A refund as the provider knows it now."""

    reference: str
    provider_reference: str | None
    state: RefundState
    reason: str | None = None


class ListedRefund(msgspec.Struct, frozen=True, kw_only=True):
    """A refund in a provider's list, ours or another."""

    # Ours; None where it was made elsewhere, such as on the provider's own pages.
    reference: str | None
    provider_reference: str
    state: RefundState
    amount: Decimal
    # The provider's name of the payment that is given back.
    transaction_id: str | None = None
    # When it was made, as far as the provider tells.
    at: datetime | None = None


class StatementRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the list that a provider keeps of payments, payouts, refunds or disputes."""

    of: StatementOf
    since: datetime
    until: datetime
    # The place where the page before ended; None: the first page.
    cursor: str | None = None


class ProviderListPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list: lines are hints, less exact than a look at each of them."""

    payments: Sequence[SeenPayment] = ()
    payouts: Sequence[SeenPayout] = ()
    refunds: Sequence[ListedRefund] = ()
    disputes: Sequence[SeenDispute] = ()
    # The place where the next page begins; None: this was the last.
    following: str | None = None


class ProviderBalance(msgspec.Struct, frozen=True):
    """The money of one currency that lies at a provider now; below 0: it is owed there."""

    currency: str
    available: Decimal
    # On its way to being available; None: not told.
    pending: Decimal | None = None


class Bank(msgspec.Struct, frozen=True):
    """A bank that payouts can go to."""

    code: str
    name: str


class HeardPayment(msgspec.Struct, frozen=True):
    """A hook tells of a payment: by our reference, or else by its own or the account's number."""

    reference: str | None
    transaction_id: str | None
    account_number: str | None = None
    # The provider's name of the account or page: some find a payment at once by nothing else.
    provider_reference: str | None = None
    # Money of it may have gone back, so that its refunds and disputes are looked at, too.
    may_be_back: bool = False


class HeardPayout(msgspec.Struct, frozen=True):
    """A hook tells of a payout."""

    reference: str


class HeardRefund(msgspec.Struct, frozen=True):
    """A hook tells of a refund: by its own references, or only by its payment's."""

    reference: str | None
    provider_reference: str | None
    # Of the payment that is given back. Asking for a refund, give all that is known: some
    # providers find one only by their own reference, or among those of the payment.
    transaction_id: str | None = None
    payment_reference: str | None = None
    # It was asked for after this moment, as far as our clock knows.
    since: datetime | None = None


Heard: TypeAlias = HeardPayment | HeardPayout | HeardRefund


class PaymentProvider(Protocol):
    """Moves money; called outside of any transaction."""

    name: ProviderName
    capabilities: Capabilities
    # The names of the secrets that a connection needs.
    secret_names: Sequence[str]
    # The beginnings, in small letters, of secrets whose money the vendor only pretends to have.
    test_prefixes: Sequence[str]

    async def check(self, credentials: ProviderSecrets) -> None:
        """Ask something harmless, to see that the credentials are good."""
        ...

    async def find_account_id(self, credentials: ProviderSecrets) -> str | None:
        """The provider's name of the account that a key belongs to; None: it doesn't tell."""
        ...

    async def read_balances(self, credentials: ProviderSecrets) -> Sequence[ProviderBalance] | None:
        """The money that lies there now, by currency; None: it doesn't tell."""
        ...

    def is_signed(
        self, credentials: ProviderSecrets, headers: Mapping[str, str], body: bytes
    ) -> bool:
        """Whether the hook is the provider's: headers by their small names, and the raw body."""
        ...

    def heard(self, body: bytes) -> Sequence[Heard]:
        """The things that a hook tells of; none of a body that tells of nothing known."""
        ...

    async def open_account(
        self, credentials: ProviderSecrets, wanted: AccountRequest
    ) -> OpenedAccount:
        """Open an account to pay into; the same reference again is the same account."""
        ...

    async def find_payments(
        self, credentials: ProviderSecrets, heard: HeardPayment
    ) -> Sequence[SeenPayment]:
        """All that was paid by a reference (or as heard), as it is now; none of an unknown one."""
        ...

    async def refund(self, credentials: ProviderSecrets, wanted: RefundRequest) -> SeenRefund:
        """Give a payment back."""
        ...

    async def find_refund(self, credentials: ProviderSecrets, heard: HeardRefund) -> SeenRefund:
        """A refund of ours as it is now; raises Unknown, also of one that somebody else made."""
        ...

    async def pay_out(self, credentials: ProviderSecrets, wanted: PayoutRequest) -> SeenPayout:
        """Send money; the same reference again sends nothing."""
        ...

    async def find_payout(self, credentials: ProviderSecrets, reference: str) -> SeenPayout:
        """A payout as it is now; raises Unknown."""
        ...

    async def list_banks(self, credentials: ProviderSecrets, currency: str) -> Sequence[Bank]:
        """The banks that payouts can go to."""
        ...

    async def resolve_name(
        self, credentials: ProviderSecrets, bank_code: str, account_number: str
    ) -> str:
        """The name that an account is held in; Refused: there is no such account."""
        ...

    async def read_statement(
        self, credentials: ProviderSecrets, asked: StatementRequest
    ) -> ProviderListPage:
        """A page of payments, payouts or refunds, with a day of tolerance at both ends."""
        ...
