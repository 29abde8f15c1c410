"""Disputes of payments for debts and the wallet: opened, won, lost, and their fee."""

from collections.abc import AsyncIterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import asyncpg
import pytest

from tests.api import Api
from tests.checkout.till import LINKS, Till
from tests.make import Make
from tests.sweeping import JOB
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id
from tillhouse.ledger.proof import prove
from tillhouse.orders.deposits import jobs as deposits
from tillhouse.orders.posting.proof import ORDER_SOURCE
from tillhouse.payins.disputes.recording import SETTLING
from tillhouse.payins.proof import DISPUTE_SOURCE, PAYIN_SOURCE
from tillhouse.payouts.withdrawals.proof import WITHDRAWAL_SOURCE

Body = dict[str, Any]
FEE = 15
WITHDRAWALS = "/v1/wallet/withdrawals"


@pytest.fixture
async def till(make: Make, sql: asyncpg.Connection) -> AsyncIterator[Till]:
    """A shop with money in its wallet, whose books are proven at the end."""
    opened = await Till.open(make, sql)
    await opened.pay(await opened.ask_for_wallet(10_000))
    yield opened
    services = opened.payer.app.services
    async with services.pool.reading() as db:
        sources = [ORDER_SOURCE, PAYIN_SOURCE, DISPUTE_SOURCE, WITHDRAWAL_SOURCE]
        assert [one async for one in prove(db, opened.shop.book, sources)] == []


async def wallet(api: Api) -> float:
    """The balance of the wallet."""
    return (await api.get("/v1/wallet", status=200)).data["balance"]


async def events_of(till: Till, name: str) -> list[Body]:
    """The disputes that one type of event told of, in order."""
    found = [event["data"]["metadata"] for event in await till.events(name)]
    return [one["dispute"] for one in found if "dispute" in one]


async def tell(till: Till) -> None:
    """Let orders tell of the disputes of their payments."""
    services = till.payer.app.services
    runner = JobRunner(services.pool, deposits.kinds(services), services.job_results)
    await runner.run_due(now() + timedelta(seconds=2))


async def decided(till: Till, link: Body, *, is_won: bool) -> Body:
    """The dispute of a payment, opened, looked at, and decided."""
    await till.pay(link, "disputed")
    await tell(till)
    [opened] = (await till.api.get("/v1/disputes?status=evidence_due", status=200)).data
    assert (opened["takenAmount"], opened["fee"]) == (opened["amount"], FEE)
    await till.pay(link, "dispute_won" if is_won else "dispute_lost")
    await tell(till)
    return (await till.api.get(f"/v1/disputes/{opened['id']}", status=200)).data


@pytest.mark.parametrize("is_won", [True, False])
async def test_a_dispute_of_a_debts_payment(till: Till, is_won: bool) -> None:
    """The debt stays paid; the wallet loses the amount until it is won, and the fee for good."""
    customer = await till.shop.customer("Chidi Eze")
    order = await till.sale(400, customer_id=customer["id"])
    debt = await till.debt_of(order)
    body = {"target_type": "debt", "target_id": debt["id"]}
    link = (await till.api.post(LINKS, body, status=201)).data
    await till.pay(link)
    reader = await till.shop.business.client("wallet:read", "finance:read")
    before = await wallet(reader)
    one = await decided(till, link, is_won=is_won)
    ends = "won" if is_won else "lost"
    assert (one["status"], one["takenAmount"]) == (ends, 0 if is_won else 400)
    assert (one["paymentLinkId"], one["orderId"]) == (link["id"], order["id"])
    assert (one["debtId"], one["orderShortCode"]) == (debt["id"], order["shortCode"])
    assert before - await wallet(reader) == FEE + one["takenAmount"]
    assert (await till.debt_of(order))["status"] == "paid"
    assert (await till.order(order))["amountPaid"] == 400
    told = await events_of(till, "order.updated")
    assert [event["status"] for event in told] == ["evidence_due", ends]


@pytest.mark.parametrize("is_won", [True, False])
async def test_a_dispute_of_a_top_up(till: Till, is_won: bool) -> None:
    """It is told by an event of its own, and a top-up is what it was."""
    link = await till.ask_for_wallet(400)
    await till.pay(link)
    reader = await till.shop.business.client("wallet:read", "finance:read")
    before = await wallet(reader)
    one = await decided(till, link, is_won=is_won)
    assert (one["orderId"], one["paymentLinkId"]) == (None, link["id"])
    assert (one["debtId"], one["reservationId"]) == (None, None)
    assert before - await wallet(reader) == FEE + (0 if is_won else 400)
    told = await events_of(till, "payment.disputed")
    assert [event["status"] for event in told] == ["evidence_due", "won" if is_won else "lost"]
    shown = await till.link(link)
    assert (shown["status"], shown["amountReceived"]) == ("PAID", 400)


async def claimed(till: Till) -> Decimal:
    """Two disputes take more than the wallet has: the claim that is left when money comes in."""
    [first] = (await till.api.get(f"{LINKS}?status=PAID", status=200)).data
    second = await till.ask_for_wallet(400)
    await till.pay(second)
    await till.pay(first, "disputed")
    await till.pay(second, "disputed")
    await till.pay(await till.ask_for_wallet(500))
    return await till.shop.sql.fetchval(
        "SELECT sum(claimed) FROM disputes WHERE book_id = $1", till.shop.book
    )


async def test_a_claim_is_taken_as_money_comes_in(till: Till) -> None:
    """The wallet gives what it hadn't; what is won comes back to it."""
    claim = await claimed(till)
    reader = await till.shop.business.client("wallet:read")
    came_in = await wallet(reader)
    assert came_in > claim > 0
    has_more = True
    while has_more:
        async with till.payer.app.services.pool.transaction() as db:
            has_more = await SETTLING.run(db, JOB)
    assert await wallet(reader) == came_in - float(claim)
    left = "SELECT sum(claimed) FROM disputes WHERE book_id = $1"
    assert await till.shop.sql.fetchval(left, till.shop.book) == 0


async def test_a_claim_comes_before_a_withdrawal(till: Till) -> None:
    """No money is withdrawn that the provider has taken already."""
    claim = await claimed(till)
    limits = {"max_per_transaction": 1000, "max_per_day": 10000, "currency": "USD"}
    api = await till.shop.business.client(
        "wallet:read", "wallet:withdrawals:create", "payouts:write", withdrawal_policy=limits
    )
    account = {"bank_code": "001", "account_number": "0123456789"}
    account_id = (await api.post("/v1/payout-accounts", account, status=201)).data["id"]
    had = await wallet(api)
    body = {"amount": had, "payout_account_id": account_id}
    await api.post(WITHDRAWALS, body, headers={"idempotency-key": str(new_id())}, status=400)
    body["amount"] = had - float(claim)
    await api.post(WITHDRAWALS, body, headers={"idempotency-key": str(new_id())}, status=201)
    shown = (await api.get("/v1/wallet", status=200)).data
    assert (shown["balance"], shown["available"]) == (had - float(claim), 0)
