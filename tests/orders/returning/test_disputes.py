"""Disputes are no refunds: their money is booked once, and the order stays what it is."""

import json
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest

from tests.make import Make
from tests.orders.returning.giving import Giving
from tests.orders.returning.test_taken_back import gone, tell
from tests.orders.returning.vendor_tills import Live
from tests.orders.shop import ORDERS, Body
from tests.payins.vendor_books import connected
from tests.providers.payments.vendors import VENDORS
from tillhouse.kit.fault import Fault
from tillhouse.providers.payments.provider import SeenDispute

FEE = Decimal(15)


def dispute(state: str, taken: str, **fields: Any) -> SeenDispute:
    """A dispute as some provider knows it."""
    given: dict[str, Any] = {
        "provider_reference": "dp-1",
        "state": state,
        "amount": Decimal(1000),
        "currency": "USD",
        "taken": Decimal(taken),
        "fee": FEE,
        "reason": "fraudulent",
        **fields,
    }
    return SeenDispute(**given)


async def disputes(till: Giving, query: str = "") -> list[Body]:
    """Those that the API lists."""
    return (await till.api.get(f"/v1/disputes{query}", status=200)).data


async def events(till: Giving, name: str) -> list[Body]:
    """The disputes that one type of event told of, in order."""
    rows = await till.sql.fetch(
        """
        SELECT payload::jsonb #>> '{data,metadata,dispute}' AS dispute FROM webhook_events
        WHERE book_id = $1 AND type = $2
            AND payload::jsonb #> '{data,metadata}' ? 'dispute' ORDER BY id
        """,
        till.book,
        name,
    )
    return [json.loads(row["dispute"]) for row in rows]


async def faults(till: Giving) -> list[Fault]:
    """The faults that `tillhouse verify` finds."""
    return await till.faults(till.services)


@pytest.mark.parametrize("is_won", [True, False])
async def test_a_dispute_of_the_sandbox_is_opened_and_decided(till: Giving, is_won: bool) -> None:
    """The money comes back when it is won, the fee doesn't; the order is what it was."""
    order = await till.sold()
    after = await till.paid(order, "disputed")
    [one] = await disputes(till, f"?order_id={order['id']}&status=evidence_due")
    assert (one["status"], one["amount"], one["takenAmount"], one["fee"]) == (
        "evidence_due", 1000, 1000, 15,
    )  # fmt: skip
    assert one["evidenceDueBy"] is not None
    assert (one["orderId"], one["provider"], one["closedAt"]) == (order["id"], "sandbox", None)
    assert await gone(till) == 1000 + FEE
    assert (after["status"], after["amountPaid"], after["refunds"]) == ("completed", 1000, [])
    await till.paid(order, "dispute_won" if is_won else "dispute_lost")
    shown = (await till.api.get(f"/v1/disputes/{one['id']}", status=200)).data
    ends = "won" if is_won else "lost"
    assert (shown["status"], shown["takenAmount"]) == (ends, 0 if is_won else 1000)
    assert shown["closedAt"] is not None
    assert await gone(till) == (FEE if is_won else 1000 + FEE)
    after = await till.show(order)
    assert (after["status"], after["amountPaid"], after["refunds"]) == ("completed", 1000, [])
    moved = [one[:1] + one[2:] for one in await till.transactions() if one[0] == "reversal"]
    assert (
        moved == [("reversal", Decimal(-1000)), ("reversal", Decimal(1000))][: 2 if is_won else 1]
    )
    assert [one["status"] for one in await events(till, "order.updated")] == ["evidence_due", ends]
    assert await faults(till) == []


@pytest.mark.parametrize("is_won", [True, False])
async def test_an_order_and_its_transactions_tell_of_a_dispute(till: Giving, is_won: bool) -> None:
    """The order lists its disputes; the money that was taken, and its fee, name the order."""
    order = await till.sold()
    assert order["disputes"] == []
    await till.paid(order, "disputed")
    [one] = await disputes(till)
    [told] = (await till.show(order))["disputes"]
    assert told == {name: one[name] for name in told}
    names = {"id", "status", "amount", "takenAmount", "fee", "evidenceDueBy", "openedAt"}
    assert set(told) == names
    assert (told["status"], told["takenAmount"]) == ("evidence_due", 1000)
    await till.paid(order, "dispute_won" if is_won else "dispute_lost")
    [told] = (await till.show(order))["disputes"]
    assert (told["status"], told["takenAmount"]) == (("won", 0) if is_won else ("lost", 1000))
    listed = (await till.api.get(f"{ORDERS}?limit=1", status=200)).data
    assert listed[0]["disputes"] == [told]
    reader = await till.business.client("finance:read")
    path = "/v1/finance/transactions"
    for query in ("", f"?search={order['shortCode']}"):
        rows = (await reader.get(path + query, status=200)).data
        mine = [row for row in rows if row["orderId"] == order["id"]]
        kinds = sorted(row["type"] for row in mine)
        # The fee of the payment, and that of the dispute.
        assert kinds == ["fee", "fee", *["reversal"] * (2 if is_won else 1), "sale"]
        assert {row["orderShortCode"] for row in mine} == {order["shortCode"]}
    [gone, *_] = [row for row in mine if row["type"] == "reversal"]
    assert (await reader.get(f"{path}/{gone['id']}", status=200)).data["orderId"] == order["id"]


async def test_a_refund_of_what_is_disputed_names_the_dispute(till: Giving) -> None:
    """All of it, or a part of it: the refusal says how much, and what to do."""
    order = await till.sold()
    await till.paid(order, "disputed")
    refused = await till.give_back(order, amount=400, status=400)
    message = refused.json["message"]
    assert "at most 0" in message
    assert "1000.00 are disputed (GET /v1/disputes)" in message
    assert "Wait for that" in message
    assert "name the method" not in message
    other = await till.sold()
    await tell(till, other, disputes=[dispute("evidence_due", "300", provider_reference="dp-2")])
    refused = await till.give_back(other, amount=800, status=400)
    assert "300 are disputed" in refused.json["message"]
    assert "Give back at most 700.00 until then" in refused.json["message"]
    await till.asked(other, amount=700)


async def test_another_environment_and_business_see_none(till: Giving, make: Make) -> None:
    """Their lists are empty, and one is not found."""
    order = await till.sold()
    await till.paid(order, "disputed")
    [one] = await disputes(till)
    other = await make.business()
    api = await other.client("finance:read")
    assert (await api.get("/v1/disputes")).data == []
    assert (await api.get(f"/v1/disputes/{one['id']}")).status == 404


@pytest.mark.parametrize("first", ["dispute", "refund"])
async def test_a_refund_and_a_dispute_take_what_came_in(till: Giving, first: str) -> None:
    """400 by us, then 1,000 by the payer's bank: 1,000 in all, and the rest is told."""
    order = await till.sold()
    if first == "dispute":
        # Its refund on the provider's own pages is heard of after the dispute.
        await tell(till, order, disputes=[dispute("evidence_due", "1000")])
        assert await gone(till) == 1000 + FEE
        more = {"returned": Decimal(400)}
    else:
        await till.asked(order, amount=400)
        await till.send()
        more = {}
    await tell(till, order, disputes=[dispute("evidence_due", "1000")], **more)
    assert await gone(till) == 1000 + FEE
    [one] = await disputes(till)
    assert one["takenAmount"] == 600
    [fault] = await faults(till)
    assert (fault.subject, "600" in fault.what) == ("dispute", True)
    await tell(till, order, disputes=[dispute("won", "0")], **more)
    assert await gone(till) == 400 + FEE
    assert await faults(till) == []


async def test_a_refund_that_fails_leaves_more_to_the_dispute(till: Giving) -> None:
    """The part that was counted for the refund is booked for the dispute then."""
    order = await till.sold()
    till.bank.manners.append("slow")
    refund = await till.asked(order, amount=400)
    await till.send()
    await tell(till, order, disputes=[dispute("lost", "1000")])
    assert (await disputes(till))[0]["takenAmount"] == 600
    till.bank.refunds[till.reference(refund)] = "failed"
    await till.hear(refund)
    await till.send()
    assert (await disputes(till))[0]["takenAmount"] == 1000
    assert await gone(till) == 1000 + FEE
    assert await faults(till) == []


async def test_an_old_answer_reopens_nothing(till: Giving) -> None:
    """A look that began before the dispute was closed says what is over."""
    order = await till.sold()
    for state, taken in (("evidence_due", "1000"), ("won", "0"), ("evidence_due", "1000")):
        await tell(till, order, disputes=[dispute(state, taken)])
    [one] = await disputes(till)
    assert (one["status"], one["takenAmount"]) == ("won", 0)
    assert await gone(till) == FEE


async def test_a_wallet_that_is_spent_owes_what_is_taken(till: Giving) -> None:
    """The rest is a claim, which is settled first when the dispute is won."""
    order = await till.sold()
    await till.sql.execute(
        "UPDATE ledger_balances SET held = credits - debits - 100 "
        "WHERE book_id = $1 AND kind = 'wallet'",
        till.book,
    )
    await tell(till, order, disputes=[dispute("evidence_due", "1000")])
    assert (await till.accounts())["unapplied_receipts"] == 915
    await tell(till, order, disputes=[dispute("won", "0")])
    assert "unapplied_receipts" not in await till.accounts()
    assert await gone(till) == FEE
    await till.sql.execute(
        "UPDATE ledger_balances SET held = 0 WHERE book_id = $1 AND kind = 'wallet'", till.book
    )
    assert await faults(till) == []


@pytest.mark.parametrize(
    "vendor", [one for one in VENDORS if one.name in ("stripe", "paystack")], ids=str
)
async def test_a_vendor_tells_of_a_dispute(
    vendor: Any, services: Any, sql: asyncpg.Connection, make: Make
) -> None:
    """By its hooks: opened, then lost, each told twice and booked once."""
    simulator = await vendor.simulator().start()
    urls = ((vendor.name, simulator.base_url),)
    settings = msgspec.structs.replace(services.settings, provider_urls=urls)
    till = await Giving.open(make, sql, "live", currency=vendor.currency)
    till.services = msgspec.structs.replace(services, settings=settings)
    origin = await connected(till.services, sql, till.business, (vendor, simulator))
    live = Live(till, origin, vendor, simulator)
    order = await live.sold()
    reference = await sql.fetchval(
        "SELECT reference FROM virtual_accounts WHERE order_id = $1", UUID(order["id"])
    )
    number = await simulator.dispute(reference)
    simulator.fail_hooks("twice")
    await live.told()
    [one] = await disputes(till)
    takes = vendor.name == "stripe"
    assert (one["status"], one["takenAmount"]) == ("evidence_due", 1000 if takes else 0)
    assert (one["fee"], one["providerDisputeId"]) == (15 if takes else 0, number)
    await simulator.close_dispute(number, is_won=False)
    simulator.fail_hooks("twice")
    await live.told()
    [one] = await disputes(till)
    assert (one["status"], one["takenAmount"]) == ("lost", 1000)
    shown = await till.show(order)
    assert (shown["amountPaid"], shown["refunds"]) == (1000, [])
    assert await faults(till) == []
    await simulator.stop()
