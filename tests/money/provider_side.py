"""The sandbox as its bank sees it: who paid what, and the messages that are on their way."""

import itertools
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

import asyncpg
import msgspec

from tests.api import Api, Response
from tests.money.book_parts import Paid, fee_of
from tillhouse.access.vault import Vault
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId, BookKey, new_id
from tillhouse.payins.connections import sandbox_credentials
from tillhouse.payins.sandbox import rules, store

CURRENCY = "NGN"


class Account(msgspec.Struct, frozen=True):
    """An account that somebody can pay into, and what for."""

    reference: str
    number: str
    amount: int
    target: str


class Message(msgspec.Struct, frozen=True):
    """A hook that the provider has to tell."""

    body: bytes


class ProviderSide:
    """The provider's own knowledge of one book, and the bag of its messages."""

    def __init__(self, sql: asyncpg.Connection, vault: Vault, book: UUID) -> None:
        self._sql = sql
        self._book = BookId(book)
        self._secret = sandbox_credentials(vault, self._book).secrets[rules.HOOK_SECRET]
        self.bag: list[Message] = []
        self.lost: list[Message] = []
        # Each hint is another message: one that reads the same is stored once.
        self._hints = itertools.count()

    async def accounts(self) -> list[Account]:
        """Every account that was ever given out, the oldest first."""
        rows = await self._sql.fetch(_ACCOUNTS, self._book)
        return [
            Account(
                row["reference"], row["account_number"], minor(row["amount"]), str(row["target"])
            )
            for row in rows
        ]

    async def pay(
        self,
        account: Account | None,
        amount: int,
        state: str = "successful",
        *,
        foreign: bool = False,
    ) -> tuple[str, Paid]:
        """Somebody pays into an account, or into one of nothing known; a message is on its way."""
        key = BookKey(self._book, new_id())
        fee = fee_of(amount)
        row = store.SandboxPaymentRow(
            reference=account.reference if account else f"th-unknown-{key.id.hex}",
            account_number=account.number if account else f"{key.id.int % 10**10:010d}",
            state=state,
            amount=major(amount),
            fee=major(fee),
            currency="USD" if foreign else CURRENCY,
            payer_name="Ada Obi",
            paid_at=now(),
        )
        await store.insert_payment(cast("Db", self._sql), key, row)
        self._tell("payment", {"transactionId": str(key.id), "reference": row.reference, "n": 0})
        target = account.target if account else None
        return str(key.id), Paid(
            amount=amount, fee=fee, target=target, is_foreign=foreign, state=state
        )

    async def take_back(self, payment_id: str, payment: Paid) -> None:
        """The bank takes a payment back; a message is on its way."""
        await store.update_payment_reversed(
            cast("Db", self._sql), BookKey(self._book, UUID(payment_id))
        )
        payment.state = "reversed"
        self._tell("payment", {"transactionId": payment_id, "state": "reversed"})

    def hint(self, withdrawal_id: str) -> None:
        """There is something to tell of a payout."""
        self._tell("payout", {"reference": f"wd-{UUID(withdrawal_id)}", "n": next(self._hints)})

    def hint_refund(self, refund_id: str) -> None:
        """There is something to tell of a refund."""
        self._tell("refund", {"reference": f"rf-{UUID(refund_id)}", "n": next(self._hints)})

    async def rethink(self, refund_id: str) -> None:
        """A refund that was done fails after all, or the other way round; a message says so."""
        await self._sql.execute(_RETHOUGHT, self._book, f"rf-{UUID(refund_id)}")
        self.hint_refund(refund_id)

    def _tell(self, event: str, data: dict[str, Any]) -> None:
        self.bag.append(Message(msgspec.json.encode({"event": event, "data": data})))

    async def deliver(self, api: Api, message: Message) -> Response:
        """The hook, as the provider calls it."""
        signed = {"x-sandbox-signature": rules.signature(self._secret, message.body)}
        path = f"/hooks/sandbox/{self._book}"
        return await api.request("POST", path, raw=message.body, headers=signed)

    async def rethink_payout(self, withdrawal_id: str, fee: int) -> None:
        """One that was paid fails after all, or the other way round; or it costs so much more."""
        await self._sql.execute(
            _CHARGED if fee else _PAID_OUT_AFTER_ALL,
            self._book,
            f"wd-{UUID(withdrawal_id)}",
            *([major(fee)] if fee else []),
        )
        self.hint(withdrawal_id)

    async def payout_fees(self) -> dict[str, int]:
        """The fees of completed payouts, by our withdrawals."""
        rows = await self._sql.fetch(_PAYOUTS, self._book)
        return {
            row["reference"].removeprefix("wd-"): minor(row["fee"])
            for row in rows
            if row["state"] == "completed"
        }

    async def payouts(self) -> dict[str, str]:
        """The states of payouts, by our withdrawals."""
        rows = await self._sql.fetch(_PAYOUTS, self._book)
        return {row["reference"].removeprefix("wd-"): row["state"] for row in rows}

    async def refunds(self) -> dict[str, str]:
        """The states of refunds, by ours."""
        rows = await self._sql.fetch(_REFUNDS, self._book)
        assert all(row["is_covered"] for row in rows), "more went back than came"
        return {row["reference"].removeprefix("rf-"): row["state"] for row in rows}


def major(amount: int) -> Decimal:
    """Minor units as an amount."""
    return Decimal(amount).scaleb(-2)


def minor(amount: Decimal) -> int:
    """An amount in minor units, of which it has no parts."""
    whole = Decimal(amount).scaleb(2)
    assert whole == int(whole), amount
    return int(whole)


_ACCOUNTS = """
    SELECT reference, account_number, amount, target_id AS target FROM virtual_accounts
    WHERE book_id = $1 AND account_number IS NOT NULL ORDER BY created_at, id
"""
_PAYOUTS = """
    SELECT reference, state, fee FROM sandbox_payouts
    WHERE book_id = $1 ORDER BY created_at, reference
"""
_CHARGED = """
    UPDATE sandbox_payouts SET fee = fee + $3 WHERE book_id = $1 AND reference = $2
"""
_PAID_OUT_AFTER_ALL = """
    UPDATE sandbox_payouts SET
        state = CASE state WHEN 'completed' THEN 'failed' ELSE 'completed' END
    WHERE book_id = $1 AND reference = $2 AND state <> 'processing'
"""
_REFUNDS = """
    SELECT f.reference, f.state, p.amount >= (SELECT coalesce(sum(o.amount), 0)
            FROM sandbox_refunds o WHERE o.book_id = $1 AND o.payment_id = f.payment_id
                AND o.state <> 'failed') AS is_covered
    FROM sandbox_refunds f JOIN sandbox_payments p ON p.book_id = $1 AND p.id = f.payment_id
    WHERE f.book_id = $1 ORDER BY f.created_at, f.reference
"""
_RETHOUGHT = """
    UPDATE sandbox_refunds SET
        state = CASE state WHEN 'successful' THEN 'failed' ELSE 'successful' END,
        reason = CASE state WHEN 'successful' THEN 'thought better of it' END
    WHERE book_id = $1 AND reference = $2 AND state <> 'pending'
"""
