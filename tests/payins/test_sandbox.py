"""The sandbox does what amounts and numbers tell it to, and always the same."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from tests.payins.collecting import Collecting
from tillhouse.access.callers import Book
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Refused as RefusedProblem
from tillhouse.kit.ids import new_id
from tillhouse.payins.connections import sandbox_credentials
from tillhouse.payins.sandbox.provider import SandboxPayments
from tillhouse.payins.sandbox.rules import account_number, magic
from tillhouse.payins.sandbox.simulating import PAYMENTS_MAX, simulate
from tillhouse.providers.payments.provider import (
    HeardRefund,
    NotReached,
    PayoutRequest,
    ProviderRefused,
    RefundRequest,
    StatementRequest,
    Unclear,
    Unknown,
)


class Asking:
    """The sandbox of one book."""

    def __init__(self, till: Collecting) -> None:
        self.till = till
        self.provider = SandboxPayments(till.services.pool)
        self.credentials = sandbox_credentials(till.services.vault, till.book.id)

    async def pay_out(self, amount: str, reference: str = "w-1", **fields: Any) -> str:
        """Send money; its state."""
        given: dict[str, Any] = {
            "reference": reference,
            "amount": Decimal(amount),
            "currency": "NGN",
            "bank_code": "001",
            "account_number": "0123456789",
            "account_name": "Ada",
            "narration": "Withdrawal",
            **fields,
        }
        return (await self.provider.pay_out(self.credentials, PayoutRequest(**given))).state

    async def payout(self, reference: str = "w-1") -> str:
        """The state of a payout."""
        return (await self.provider.find_payout(self.credentials, reference)).state

    async def refund(self, payment: object, amount: str, reference: str) -> str:
        """Give money back; its state."""
        wanted = RefundRequest(
            reference=reference,
            transaction_id=str(payment),
            amount=Decimal(amount),
            currency="NGN",
            reason="",
        )
        return (await self.provider.refund(self.credentials, wanted)).state

    async def found_refund(self, reference: str) -> str:
        """The state of a refund."""
        heard = HeardRefund(reference, None)
        return (await self.provider.find_refund(self.credentials, heard)).state


@pytest.fixture
def asking(till: Collecting) -> Asking:
    """The sandbox of a test book."""
    return Asking(till)


async def test_payouts_follow_the_amount(asking: Asking) -> None:
    """The table of docs/payments.md."""
    assert await asking.pay_out("10.00", "plain") == "completed"
    assert await asking.pay_out("10.99", "fails") == "failed"
    with pytest.raises(ProviderRefused):
        await asking.pay_out("10.98", "refused")
    with pytest.raises(Unknown):
        await asking.payout("refused")
    with pytest.raises(Unclear):
        await asking.pay_out("10.97", "unclear")
    assert await asking.payout("unclear") == "completed"
    assert await asking.pay_out("10.96", "slow") == "processing"
    assert [await asking.payout("slow") for _ in range(3)] == ["processing", *["completed"] * 2]
    with pytest.raises(ProviderRefused):
        await asking.pay_out("10.00", "missing", account_number="0123450000")


async def test_a_payout_of_the_same_reference_leaves_once(asking: Asking) -> None:
    """Also after an answer that was lost."""
    with pytest.raises(Unclear):
        await asking.pay_out("5.97")
    assert [await asking.pay_out("5.97") for _ in range(2)] == ["completed"] * 2
    query = "SELECT count(*) FROM sandbox_payouts WHERE book_id = $1"
    assert await asking.till.sql.fetchval(query, asking.till.book.id) == 1


async def test_a_payout_that_comes_back_is_told_by_a_hook(asking: Asking) -> None:
    """Some seconds after it completed."""
    assert await asking.pay_out("10.95") == "completed"
    await asking.till.work()
    assert await asking.payout() == "completed"
    await asking.till.later(minutes=1)
    assert await asking.payout() == "reversed"
    assert await asking.till.events() == [(True, "passed on")]


async def test_refunds_follow_the_amount_and_never_exceed_it(asking: Asking) -> None:
    """No part of a payment is given back twice."""
    (payment,) = await asking.till.simulate(await asking.till.account())
    assert await asking.refund(payment, "100.00", "plain") == "successful"
    assert await asking.refund(payment, "100.00", "plain") == "successful"
    assert await asking.refund(payment, "100.99", "fails") == "failed"
    with pytest.raises(ProviderRefused):
        await asking.refund(payment, "100.98", "refused")
    with pytest.raises(Unclear):
        await asking.refund(payment, "100.97", "unclear")
    assert await asking.found_refund("unclear") == "successful"
    assert await asking.refund(payment, "100.96", "slow") == "pending"
    assert [await asking.found_refund("slow") for _ in range(2)] == ["pending", "successful"]
    with pytest.raises(ProviderRefused):
        await asking.refund(payment, "698.08", "too much")
    assert await asking.refund(payment, "698.07", "the rest") == "successful"
    for unknown in (new_id(), "x"):
        with pytest.raises(ProviderRefused):
            await asking.refund(unknown, "1.00", "of nothing")


async def test_names_follow_the_number(asking: Asking) -> None:
    """Its banks know everybody but two."""
    provider, credentials = asking.provider, asking.credentials
    (bank, *_) = await provider.list_banks(credentials, "NGN")
    name = await provider.resolve_name(credentials, bank.code, "0123456789")
    assert name == await provider.resolve_name(credentials, bank.code, "0123456789")
    for code, number, wanted in (
        ("999", "0123456789", ProviderRefused),
        (bank.code, "0123450000", ProviderRefused),
        (bank.code, "0123450001", NotReached),
    ):
        with pytest.raises(wanted):
            await provider.resolve_name(credentials, code, number)


async def test_a_live_book_simulates_nothing(till: Collecting) -> None:
    """Nor an account of another provider."""
    account = await till.account()
    async with till.services.pool.transaction() as db:
        with pytest.raises(RefusedProblem):
            await simulate(db, Book(till.book.id, "live"), account, "exact")


async def test_an_account_takes_so_many_payments(till: Collecting) -> None:
    """Its page is open to everybody; another account takes its own."""
    account = await till.account()
    [paid] = await till.simulate(account)
    async with till.services.pool.transaction() as db:
        await db.execute(_AGAIN, till.book.id, paid, PAYMENTS_MAX - 1)
    with pytest.raises(RefusedProblem, match="at most"):
        await till.simulate(account)
    assert await till.simulate(await till.account())


def test_magic_counts_in_the_smallest_unit() -> None:
    """Currencies without decimals, and with three."""
    assert magic(Decimal("10.99"), "NGN") == "fails"
    assert magic(Decimal(1099), "JPY") == "fails"
    assert magic(Decimal("1.099"), "KWD") == "fails"
    assert magic(Decimal("10.9"), "NGN") == "plain"


def test_the_number_of_an_account_follows_from_its_reference() -> None:
    """The same today and tomorrow."""
    assert account_number("th-0") == account_number("th-0") != account_number("th-1")
    assert len(account_number("th-0")) == 10


async def test_the_statement_lists_what_the_sandbox_knows(till: Collecting) -> None:
    """Payments of a time, page by page, each once, whatever moments they share."""
    account = await till.account()
    paid = [one for _ in range(3) for one in await till.simulate(account, "twice")]
    secrets = sandbox_credentials(till.services.vault, till.book.id)
    since, until = now() - timedelta(hours=1), now() + timedelta(hours=1)
    sandbox = SandboxPayments(till.services.pool)
    asked = StatementRequest(of="payments", since=since, until=until)
    page = await sandbox.read_statement(secrets, asked)
    assert {one.transaction_id for one in page.payments} == {str(one) for one in paid}
    assert page.following is None
    middle = page.payments[2]
    assert middle.paid_at is not None
    cursor = f"{middle.paid_at.timestamp() * 1000:.0f}|{middle.transaction_id}"
    rest = await sandbox.read_statement(secrets, msgspec.structs.replace(asked, cursor=cursor))
    assert rest.payments == page.payments[3:]
    later = StatementRequest(of="payments", since=until, until=until + timedelta(hours=1))
    assert list((await sandbox.read_statement(secrets, later)).payments) == []


_AGAIN = """
    INSERT INTO sandbox_payments
    SELECT (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid()))).*
    FROM sandbox_payments p, generate_series(1, $3) WHERE p.book_id = $1 AND p.id = $2
"""
