"""Every payment is recorded once, booked to the minor unit, and explained."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from tests.payins.collecting import Collecting
from tillhouse.kit.clock import now
from tillhouse.payins.asking import ask
from tillhouse.payins.recording import find_account_of, record
from tillhouse.payins.sandbox.simulating import Simulated
from tillhouse.payins.types import VirtualAccount
from tillhouse.providers.payments.provider import SeenPayment

FEE = Decimal("15.00")
NET = Decimal("985.00")


def seen(**fields: Any) -> SeenPayment:
    """A payment as some provider knows it."""
    given: dict[str, Any] = {
        "reference": None,
        "transaction_id": "t-1",
        "state": "successful",
        "amount": Decimal(1000),
        "fee": Decimal(15),
        "currency": "NGN",
        **fields,
    }
    return SeenPayment(**given)


async def tell(till: Collecting, payment: SeenPayment, account: VirtualAccount | None) -> bool:
    """Record it in a transaction of its own."""
    async with till.services.pool.transaction() as db:
        return bool(await record(db, till.origin, [payment], account, now()))


async def test_a_payment_funds_the_wallet_and_reaches_its_target(till: Collecting) -> None:
    """The provider keeps a fee; the rest is in the wallet."""
    account = await till.account()
    await till.pay(account)
    (payin,) = await till.payins()
    assert (payin["status"], payin["amount"], payin["fee"]) == ("received", 1000, FEE)
    assert payin["virtual_account_id"] == account.id
    assert till.applied == [("applied", account.target_id, Decimal(1000))]
    assert await till.balance("wallet") == NET
    assert await till.balance("wallet_funding") == -NET
    assert (await till.balance("fees"), await till.balance("provider_clearing")) == (-FEE, FEE)
    assert await till.transactions() == [("fee", "successful", FEE)]
    assert await till.faults() == []


@pytest.mark.parametrize(
    ("told", "kept"), [(-5, 0), (0, 0), (999, 999), (1000, 1000), (1001, 1000)]
)
async def test_a_fee_is_a_part_of_its_payment(till: Collecting, told: int, kept: int) -> None:
    """A provider that tells of a fee above the payment, or below nothing, takes it and no more."""
    account = await till.account()
    payment = seen(reference=account.reference, fee=Decimal(told))
    assert await tell(till, payment, account)
    (payin,) = await till.payins()
    assert payin["fee"] == kept
    assert await till.balance("wallet") == 1000 - kept
    assert await till.faults() == []


AMOUNTS: dict[Simulated, list[Decimal]] = {
    "under": [Decimal(500)],
    "over": [Decimal(1500)],
    "late": [Decimal(1000)],
    "twice": [Decimal(1000), Decimal(1000)],
    "failed": [],
}


@pytest.mark.parametrize("kind", AMOUNTS)
async def test_what_does_not_fit_is_recorded_all_the_same(
    till: Collecting, kind: Simulated
) -> None:
    """The target decides what to do with it; nothing is lost."""
    account = await till.account()
    await till.pay(account, kind)
    assert [payin["amount"] for payin in await till.payins()] == AMOUNTS[kind]
    assert [amount for _, _, amount in till.applied] == AMOUNTS[kind]
    assert all(("late" in p["conditions"]) == (kind == "late") for p in await till.payins())
    assert await till.faults() == []


async def test_fifty_at_once_record_it_once(till: Collecting) -> None:
    """Hooks, questions and a page tell of the same payment at the same moment."""
    account = await till.account()
    (payment_id,) = await till.simulate(account)
    payment = seen(transaction_id=str(payment_id), reference=account.reference)
    news = await asyncio.gather(
        *(tell(till, payment, account) for _ in range(50)),
        *(ask(till.services, till.book, account.id) for _ in range(5)),
        *(till.work() for _ in range(3)),
    )
    await till.work()
    assert len(await till.payins()) == 1
    assert till.applied == [("applied", account.target_id, Decimal(1000))]
    assert sum(one is True for one in news) <= 1
    assert await till.balance("wallet") == NET
    assert await till.faults() == []


async def test_what_goes_back_leaves_the_wallet(till: Collecting) -> None:
    """And the target gives it back, once."""
    account = await till.account()
    await till.pay(account)
    for _ in range(2):
        await till.pay(account, "reversed")
    (first, *rest) = await till.payins()
    assert first["status"] == "reversed"
    assert [verb for verb, _, _ in till.applied][:2] == ["applied", "taken back"]
    await till.later(minutes=1)
    assert {payin["status"] for payin in [*rest, *await till.payins()]} <= {"received", "reversed"}
    for kind in ("wallet", "wallet_funding", "fees", "provider_clearing"):
        assert await till.balance(kind) == 0
    assert {status for _, status, _ in await till.transactions()} == {"reversed"}
    assert await till.faults() == []


async def test_a_reversal_never_empties_the_wallet_below_zero(till: Collecting) -> None:
    """The part that was spent meanwhile is a claim, and the payment says so."""
    account = await till.account()
    await till.pay(account)
    await till.sql.execute(
        "UPDATE ledger_balances SET held = 600 WHERE book_id = $1 AND kind = 'wallet'",
        till.book.id,
    )
    await till.pay(account, "reversed")
    await till.sql.execute(
        "UPDATE ledger_balances SET held = 0 WHERE book_id = $1 AND kind = 'wallet'", till.book.id
    )
    (payin,) = await till.payins()
    assert "uncovered" in payin["conditions"]
    assert await till.balance("wallet") == 600
    assert await till.balance("unapplied_receipts") == -600
    assert await till.balance("wallet_funding") == 0
    assert await till.faults() == []


async def test_what_went_back_before_it_was_applied_reaches_no_target(till: Collecting) -> None:
    """It is recorded as both, and comes to nothing."""
    account = await till.account()
    for state in ("reversed", "successful", "reversed"):
        await tell(till, seen(state=state), account)
    await till.work()
    (payin,) = await till.payins()
    assert payin["status"] == "reversed"
    assert till.applied == []
    assert await till.balance("wallet") == 0
    assert await till.faults() == []


async def test_a_name_that_no_database_holds_keeps_no_money_back(till: Collecting) -> None:
    """It is kept without what is unfit."""
    assert await tell(till, seen(payer_name="Ada\x00 Obi"), None)
    assert [payin["payer_name"] for payin in await till.payins()] == ["Ada Obi"]


async def test_money_for_nothing_known_is_kept(till: Collecting) -> None:
    """The business sees it, and learns of it in its audit log; it may go back, too."""
    assert await tell(till, seen(), None)
    (payin,) = await till.payins()
    assert (payin["conditions"], payin["target_id"]) == (["unknown"], None)
    assert await till.balance("unapplied_receipts") == 1000
    assert await till.balance("wallet") == 0
    assert sorted(await till.transactions()) == [
        ("credit", "successful", Decimal(1000)),
        ("fee", "successful", Decimal(15)),
    ]
    assert await till.faults() == []
    assert await tell(till, seen(state="reversed"), None)
    assert await till.balance("unapplied_receipts") == 0
    assert await till.faults() == []
    query = "SELECT event_type FROM audit_events WHERE business_id = $1 AND event_type ~ 'payin'"
    noted = await till.sql.fetch(query, till.origin.business_id)
    assert sorted(row["event_type"] for row in noted) == ["payin.received", "payin.reversed"]


async def test_a_number_that_was_given_out_again_pays_for_nothing_of_ours(
    till: Collecting,
) -> None:
    """A payment for another shop of the merchant, which opens accounts at the same provider."""
    account = await till.account()
    number = account.account_number
    async with till.services.pool.reading() as db:
        other = seen(reference="web-7", account_number=number)
        assert await find_account_of(db, till.origin, other) is None
        unnamed = seen(account_number=number)
        assert await find_account_of(db, till.origin, unnamed) == account


async def test_another_currency_is_kept_apart(till: Collecting) -> None:
    """It settles nothing, and its accounts are its own."""
    account = await till.account()
    assert await tell(till, seen(currency="USD"), account)
    await till.work()
    (payin,) = await till.payins()
    assert payin["conditions"] == ["other_currency"]
    assert till.applied == []
    assert await till.balance("unapplied_receipts", "USD") == 1000
    assert (await till.balance("unapplied_receipts"), await till.transactions()) == (0, [])
    assert await till.faults() == []
    assert await tell(till, seen(currency="USD", state="reversed"), account)
    assert await till.balance("unapplied_receipts", "USD") == 0
    assert await till.faults() == []


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE payins SET amount = amount + 1 WHERE book_id = $1",
        "UPDATE payins SET fee = fee - 1 WHERE book_id = $1",
        "UPDATE payins SET status = 'reversed' WHERE book_id = $1",
        "UPDATE payins SET target_id = NULL WHERE book_id = $1",
    ],
)
async def test_the_proof_sees_what_is_wrong(till: Collecting, harm: str) -> None:
    """A payment and its transfers that disagree are named."""
    await till.pay(await till.account())
    assert await till.faults() == []
    await till.sql.execute(harm, till.book.id)
    assert await till.faults()
