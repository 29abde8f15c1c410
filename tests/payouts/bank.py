"""A provider in this process that behaves like one: well, badly, late, or twice."""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from decimal import Decimal
from typing import Literal

import msgspec

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.access.vault import Vault
from tillhouse.db.pool import Db
from tillhouse.payins.marks import account_mark, marks
from tillhouse.payins.types import ProviderConnection
from tillhouse.providers.payments.provider import (
    AccountRequest,
    Bank,
    Capabilities,
    Heard,
    HeardPayment,
    HeardRefund,
    NotReached,
    OpenedAccount,
    PayoutRequest,
    PayoutState,
    ProviderListPage,
    ProviderName,
    ProviderRefused,
    ProviderSecrets,
    RefundRequest,
    SeenPayment,
    SeenPayout,
    SeenRefund,
    StatementRequest,
    Unclear,
    Unknown,
)

# executed: answers; broken: executes and breaks; late: is executed after the answer was given up;
# lost: never arrives, and nobody knows; away: is known not to have arrived; killed: is late, and
# the worker that has asked dies before it could note anything.
Manner = Literal[
    "executed", "slow", "broken", "bug", "late", "lost", "away", "refused", "failed", "killed"
]


def cut_off(manner: Manner) -> BaseException:
    """The end of a call that will be executed, or of the process that has made it."""
    return asyncio.CancelledError() if manner == "killed" else Unclear("timed out")


class BankingProvider:
    """Moves money in memory; a reference is paid once, however often it is asked to."""

    name: ProviderName = "sandbox"
    capabilities = Capabilities(
        opens="account", has_payouts=True, has_name_enquiry=True, has_statement=True
    )
    secret_names: Sequence[str] = ()
    test_prefixes: Sequence[str] = ()

    def __init__(self) -> None:
        self.manners: deque[Manner] = deque()
        self.states: dict[str, PayoutState] = {}
        # How often money left by each reference, and how often that was asked for.
        self.paid: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.fee = Decimal(0)
        self.before_answer: Callable[[], None] | None = None
        self.on_refusal: Callable[[], None] = lambda: None
        # Happens between an answer to a look and its arrival.
        self.on_look: Callable[[], Awaitable[None]] | None = None
        # The account that is connected (None: its name isn't told), and the payouts of the other.
        self.account: str | None = "first"
        self.secrets = ProviderSecrets({"secret_key": "first"}, is_live=False)
        self._elsewhere: dict[str, PayoutState] = {}
        self._late: list[PayoutRequest] = []

    def change_account(self, key: str) -> None:
        """Connect the other account: each knows nothing of what the other has paid."""
        self.account = key
        self.change_key(key)
        self.states, self._elsewhere = self._elsewhere, self.states

    def change_key(self, key: str) -> None:
        """Connect the same account by another key."""
        self.secrets = ProviderSecrets({"secret_key": key}, is_live=False)

    def connection(self, vault: Vault) -> ProviderConnection:
        """The connection to the account."""
        name = self.account
        mark = None if name is None else account_mark(vault, self, self.secrets, name)
        return ProviderConnection(self, self.secrets, marks(vault, self.secrets, mark))

    async def find(
        self, services: Services, _db: Db, _book: Book, _name: str
    ) -> ProviderConnection | None:
        """The connection of any book to this provider."""
        return self.connection(services.vault)

    def catch_up(self) -> None:
        """Execute what arrived late."""
        for wanted in self._late:
            self._execute(wanted, "completed")
        self._late.clear()

    async def pay_out(self, credentials: ProviderSecrets, wanted: PayoutRequest) -> SeenPayout:
        """Send money, in the next manner."""
        self.asked[wanted.reference] += 1
        manner = self.manners.popleft() if self.manners else "executed"
        await asyncio.sleep(0)
        match manner:
            case "away":
                raise NotReached("connection refused")
            case "refused":
                self.on_refusal()
                raise ProviderRefused("the account is closed")
            case "lost":
                raise Unclear("timed out")
            case "late" | "killed":
                self._late.append(wanted)
                raise cut_off(manner)
            case "slow":
                self._execute(wanted, "processing")
            case "failed":
                self.states[wanted.reference] = "failed"
            case _:
                self._execute(wanted, "completed")
        if self.before_answer is not None:
            self.before_answer()
        if manner == "broken":
            raise Unclear("http_500")
        if manner == "bug":
            raise ValueError("an answer that nobody foresaw")
        return self._seen(wanted.reference)

    def _execute(self, wanted: PayoutRequest, state: PayoutState) -> None:
        if wanted.reference not in self.states:
            self.paid[wanted.reference] += 1
            self.states[wanted.reference] = state

    async def find_payout(self, credentials: ProviderSecrets, reference: str) -> SeenPayout:
        """A payout as it is now."""
        if reference not in self.states:
            raise Unknown(reference)
        seen = self._seen(reference)
        if self.on_look is not None:
            await self.on_look()
        return seen

    def _seen(self, reference: str) -> SeenPayout:
        state = self.states[reference]
        reason = "the account is closed" if state in ("failed", "reversed") else None
        fee = self.fee if state == "completed" else Decimal(0)
        return SeenPayout(
            reference=reference,
            provider_reference=f"bank-{reference}",
            state=state,
            fee=fee,
            reason=reason,
        )

    async def list_banks(self, credentials: ProviderSecrets, currency: str) -> Sequence[Bank]:
        """Its banks."""
        return (Bank("058", "Guaranty Bank"), Bank("011", "First Bank"))

    async def resolve_name(
        self, credentials: ProviderSecrets, bank_code: str, account_number: str
    ) -> str:
        """A holder for every number, but for those that end in zeros."""
        if account_number.endswith("0000"):
            raise ProviderRefused("no such account")
        if self.manners and self.manners[0] == "away":
            self.manners.popleft()
            raise NotReached("connection refused")
        return f"Holder of {account_number}"

    async def read_statement(
        self, credentials: ProviderSecrets, asked: StatementRequest
    ) -> ProviderListPage:
        """Payouts alone, all on one page."""
        seen = [self._seen(name) for name in self.states] if asked.of == "payouts" else []
        return ProviderListPage(payouts=seen)

    async def check(self, credentials: ProviderSecrets) -> None:
        """Any credentials are good."""

    async def find_account_id(self, credentials: ProviderSecrets) -> str | None:
        """The account that is connected."""
        return self.account

    async def read_balances(self, credentials: ProviderSecrets) -> None:
        """It tells none."""
        return

    def is_signed(
        self, credentials: ProviderSecrets, headers: Mapping[str, str], body: bytes
    ) -> bool:
        """Nothing is: it sends no hooks."""
        return False

    def heard(self, body: bytes) -> Sequence[Heard]:
        """It sends no hooks."""
        return ()

    async def open_account(
        self, credentials: ProviderSecrets, wanted: AccountRequest
    ) -> OpenedAccount:
        """It takes no money."""
        raise ProviderRefused(wanted.reference)

    async def find_payments(
        self, credentials: ProviderSecrets, heard: HeardPayment
    ) -> Sequence[SeenPayment]:
        """It takes no money."""
        return ()

    async def refund(self, credentials: ProviderSecrets, wanted: RefundRequest) -> SeenRefund:
        """It takes no money."""
        raise ProviderRefused(wanted.reference)

    async def find_refund(self, credentials: ProviderSecrets, heard: HeardRefund) -> SeenRefund:
        """It takes no money."""
        raise Unknown(msgspec.json.encode(heard).decode())
