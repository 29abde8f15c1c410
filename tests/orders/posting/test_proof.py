"""The findings of `tillhouse verify` in a ledger: none in a sound book, each broken row."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import LiteralString

import asyncpg
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.make import Make
from tests.orders.posting.shop import Shop, position
from tests.orders.posting.test_rules import WALKS, walked
from tillhouse.kit.fault import Fault
from tillhouse.kit.ids import new_id
from tillhouse.ledger.proof import prove
from tillhouse.orders.posting.faults import OrderFacts, order_faults
from tillhouse.orders.posting.proof import ORDER_SOURCE
from tillhouse.orders.posting.rules import LedgerPosition, Status


async def faults(shop: Shop, batch: int = 500) -> list[Fault]:
    """The faults of the book."""
    async with shop.services.pool.reading() as db:
        return [fault async for fault in prove(db, shop.book, [ORDER_SOURCE], batch)]


def facts_of(walk: list[LedgerPosition]) -> OrderFacts:
    """The facts that the database would give of an order after a walk, if it holds all postings."""
    books, now = walked(walk), walk[-1]
    return OrderFacts(
        id=new_id(),
        short_code="AAAA2222",
        position=now,
        postings=9,
        used=9,
        paid=books.kinds["payment"] - books.kinds["payment_correction"] - books.kinds["refund"],
        received=books.received,
        tenders=books.tenders,
        tips={},
        tendered={**books.tenders, "cash": books.tenders.get("cash", Decimal(0)) - now.change},
        accounts=books.uneven(),
        debts=books.debts,
        active_debts=len(books.debts),
    )


@given(WALKS)
def test_what_the_rules_post_is_proven(walk: list[LedgerPosition]) -> None:
    """After any walk there is nothing to complain of."""
    assert list(order_faults(facts_of(walk))) == []


@given(WALKS, st.data())
def test_any_other_amount_is_a_fault(walk: list[LedgerPosition], data: st.DataObject) -> None:
    """An account, a sum or a debt that holds but a little more or less is found."""
    facts = facts_of(walk)
    more = data.draw(st.sampled_from([Decimal("0.0001"), Decimal(-1), Decimal(100)]))
    field = data.draw(st.sampled_from(["paid", "received", "accounts", "debts", "tenders"]))
    old = getattr(facts, field)
    if isinstance(old, Decimal):
        wrong = old + more
    elif old:
        key = data.draw(st.sampled_from(sorted(old, key=str)))
        wrong = {**old, key: old[key] + more}
    else:
        return
    assert list(order_faults(msgspec.structs.replace(facts, **{field: wrong})))


async def sound(shop: Shop) -> None:
    """A book with every sort of order in it."""
    ann, ben = await shop.customer("Ann"), await shop.customer("Ben")
    await shop.sell(position(1000, 1500, ann))
    await shop.sell(position(1000, 1500, ann, method="pos"))
    await shop.sell(position(1000, 1500, method="transfer"))
    await shop.sell(position(1000, 400, ann, status="scheduled"))
    moved = await shop.sell(position(1000, 1200, ann, method="pos"))
    await shop.change(moved, customer_id=ben, paid=Decimal(300))
    statuses: list[Status] = ["cancelled", "deleted", "completed", "refunded"]
    for status in statuses:
        order = await shop.sell(position(1000, 400, ben))
        await shop.change(order, status=status)


async def test_a_sound_book_has_no_faults(shop: Shop) -> None:
    """Nor has an empty one, however small the batches."""
    assert await faults(shop) == []
    await sound(shop)
    assert await faults(shop) == []
    assert await faults(shop, batch=2) == []


@asynccontextmanager
async def tampering(sql: asyncpg.Connection) -> AsyncIterator[None]:
    """Do what no connection of the product may: triggers and foreign keys look away."""
    await sql.execute("SET session_replication_role = replica")
    try:
        yield
    finally:
        await sql.execute("SET session_replication_role = origin")


# A statement that breaks an order's rows ($1 book, $2 order) → the finding about it.
BREAKS: list[tuple[LiteralString, str]] = [
    (
        "UPDATE orders SET paid_by_cash = 300 WHERE book_id = $1 AND id = $2",
        "it says that it was paid 300 by cash, its payments 400",
    ),
    (
        "UPDATE orders SET paid_by_cash = NULL, paid_by_pos = 400 WHERE book_id = $1 AND id = $2",
        "it says that it was paid 400 by pos, its payments 0",
    ),
    (
        "UPDATE orders SET amount_paid = 300 WHERE book_id = $1 AND id = $2",
        "its amount paid is 300, its payments come to 400",
    ),
    (
        "UPDATE orders SET total_amount = 900, subtotal_amount = 900 "
        "WHERE book_id = $1 AND id = $2",
        "sales of 00000000-0000-0000-0000-000000000000 holds -1000 and must hold -900",
    ),
    (
        "UPDATE orders SET status = 'cancelled' WHERE book_id = $1 AND id = $2",
        "must be none",
    ),
    (
        "UPDATE orders SET customer_id = NULL WHERE book_id = $1 AND id = $2",
        "holds 600 and must hold 0",
    ),
    (
        "UPDATE orders SET postings = 1 WHERE book_id = $1 AND id = $2",
        "its next posting is number 1, which is taken already",
    ),
    (
        "UPDATE debts SET balance = 599 WHERE book_id = $1 AND source_id = $2",
        "its active debt is 599 of customer",
    ),
    (
        "DELETE FROM debts WHERE book_id = $1 AND source_id = $2",
        "its active debt is none and must be 600 of customer",
    ),
    (
        "UPDATE transactions SET amount = 401 WHERE book_id = $1 AND source_id = $2",
        "its transactions come to 401",
    ),
    (
        "UPDATE ledger_transfers SET amount = 401 "
        "WHERE book_id = $1 AND source_id = $2 AND kind = 'payment'",
        "its payments come to 401",
    ),
    (
        "UPDATE ledger_transfers SET debit_kind = 'unapplied_receipts' "
        "WHERE book_id = $1 AND source_id = $2 AND kind = 'payment'",
        "its tenders hold 0 in cash and must hold 400",
    ),
    (
        "DELETE FROM ledger_transfers WHERE book_id = $1 AND source_id = $2 AND kind = 'sale'",
        "holds 0 and must hold -1000",
    ),
]


@pytest.mark.parametrize(("statement", "said"), BREAKS)
async def test_a_broken_order_is_found(shop: Shop, statement: LiteralString, said: str) -> None:
    """One row changed by hand, and the fault names the order and what is wrong."""
    await sound(shop)
    order = await shop.sell(position(1000, 400, await shop.customer()))
    async with tampering(_owner(shop)):
        await shop.sql.execute(statement, shop.book, order.id)
    found = await faults(shop, batch=3)
    assert {fault.id for fault in found} == {str(order.id)}
    assert {fault.subject for fault in found} == {"order"}
    assert any(said in fault.what for fault in found), found
    assert all(fault.what.startswith(order.code) for fault in found)


async def test_credit_that_was_not_there_is_found(shop: Shop) -> None:
    """510 of 10, by credit that came back at once; an order that is paid beyond it otherwise isn't.

    Once the amount paid is what it was, there is nothing to complain of.
    """
    ann = await shop.customer("Ann")
    order = await shop.sell(position(10, 10, ann))
    await shop.change(order, paid=Decimal(510), method="credit")
    fair = await shop.sell(position(10, 20, ann, method="transfer"))
    await shop.change(fair, paid=Decimal(500), method="pos")
    spent = await shop.sell(position(10, 10, ann, method="credit"))
    await shop.change(spent, paid=Decimal(30), method="pos")
    await shop.change(spent, total=Decimal(5))
    [fault] = await faults(shop)
    assert (fault.id, fault.what.split(": ")[1]) == (
        str(order.id),
        "500 of its customer's credit was spent on it without being owed",
    )
    await shop.change(order, paid=Decimal(10))
    assert await faults(shop) == []


async def test_what_has_no_order_is_found(shop: Shop) -> None:
    """Transfers, transactions and debts of an order that was removed by hand."""
    order = await shop.sell(position(1000, 400, await shop.customer()))
    written = await shop.rows_of(order)
    async with tampering(_owner(shop)):
        await shop.sql.execute("DELETE FROM orders WHERE book_id = $1", shop.book)
    found = await faults(shop, batch=1)
    lost = {str(row["id"]) for table in written.values() for row in table}
    assert {fault.id for fault in found} == lost
    assert all("that isn't there" in fault.what for fault in found)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE ledger_balances SET debits = 1 WHERE book_id = $1", "keeps 1 debits"),
        ("UPDATE ledger_balances SET credits = 600 WHERE book_id = $1", "keeps 600 credits"),
        ("DELETE FROM ledger_balances WHERE book_id = $1", "keeps 0 credits"),
    ],
)
async def test_a_broken_balance_is_found(shop: Shop, statement: LiteralString, said: str) -> None:
    """A balance is the sum of its transfers, and is there when they are."""
    customer = await shop.customer()
    await shop.sell(position(1000, 1500, customer, method="pos"))
    async with tampering(_owner(shop)):
        await shop.sql.execute(statement, shop.book)
    [fault] = await faults(shop)
    assert (fault.subject, fault.id) == ("balance", f"customer_credit {customer}")
    assert fault.what.startswith(said)


async def test_a_reversal_is_the_opposite_of_what_it_reverses(shop: Shop) -> None:
    """The same sides swapped, the same amount; anything else is found."""
    order = await shop.sell(position(1000, 400))
    payment = (await shop.rows_of(order))["transfers"][1]["id"]
    half, whole = new_id(), new_id()
    for reversal, amount, is_found in ((half, 200, True), (whole, 400, False)):
        async with tampering(_owner(shop)):
            await shop.sql.execute(_REVERSAL, shop.book, payment, reversal, Decimal(amount))
        said = [fault.what for fault in await faults(shop) if fault.id == str(reversal)]
        assert said == ["is not the opposite of the one it reverses"] * is_found
        async with tampering(_owner(shop)):
            await shop.sql.execute(
                "DELETE FROM ledger_transfers WHERE book_id = $1 AND id = $2",
                shop.book,
                reversal,
            )


_REVERSAL = """
    INSERT INTO ledger_transfers (book_id, id, debit_kind, debit_owner, credit_kind, credit_owner,
        amount, currency, kind, source_type, source_id, sequence, reverses_id, happened_at,
        created_at)
    SELECT book_id, $3, credit_kind, credit_owner, debit_kind, debit_owner, $4, currency,
        'reversal', source_type, source_id, 0, id, happened_at, created_at
    FROM ledger_transfers WHERE book_id = $1 AND id = $2
"""


async def test_only_the_broken_book_is_named(shop: Shop, make: Make) -> None:
    """A fault of one business is none of another."""
    other = await Shop.of(await make.business(), shop.services, shop.sql)
    for each in (shop, other):
        await each.sell(position(1000, 400))
    await other.sql.execute("UPDATE orders SET amount_paid = 1 WHERE book_id = $1", other.book)
    assert await faults(shop) == []
    assert await faults(other)


def _owner(shop: Shop) -> asyncpg.Connection:
    assert isinstance(shop.sql, asyncpg.Connection)
    return shop.sql
