"""The rows of the database after postings, and the postings that it refuses, also concurrent
ones."""

import asyncio
from decimal import Decimal
from uuid import UUID

import asyncpg
import pytest

from tests.make import Make
from tests.orders.posting.shop import Order, Shop, position
from tests.webhooks.shop import until
from tillhouse.kit.errors import Refused
from tillhouse.kit.ids import new_id
from tillhouse.ledger.rules import NO_OWNER, Ledger, Source
from tillhouse.ledger.store.posting import record_postings, rows
from tillhouse.orders.posting.rules import postings

SPENT = "ledger_balances_not_below_zero"


def refused(results: list[object]) -> list[str | None]:
    """Which constraints said no."""
    return [
        getattr(result, "constraint_name", repr(result))
        for result in results
        if isinstance(result, BaseException)
    ]


async def spend(shop: Shop, customer: UUID, amount: int) -> None:
    """Take from a customer's credit what nothing else takes yet."""
    await shop.sql.execute(
        """
        UPDATE ledger_balances SET debits = debits + $3
        WHERE book_id = $1 AND kind = 'customer_credit' AND owner_id = $2
        """,
        shop.book,
        customer,
        Decimal(amount),
    )


async def test_a_sale_is_written_as_it_is_posted(shop: Shop) -> None:
    """Transfers with rising numbers, a transaction with a reference, a debt with the rest."""
    customer = await shop.customer()
    order = await shop.sell(position(1000, 400, customer, method="transfer"))
    found = await shop.rows_of(order)
    assert [(row["kind"], row["amount"], row["sequence"]) for row in found["transfers"]] == [
        ("sale", 1000, 0),
        ("payment", 400, 1),
    ]
    [seen] = found["transactions"]
    assert seen["reference"].startswith("TXN-")
    assert len(seen["reference"]) == len("TXN-") + 12
    assert (seen["type"], seen["method"], seen["status"]) == ("sale", "transfer", "successful")
    assert (seen["amount"], seen["customer_id"]) == (400, customer)
    [debt] = found["debts"]
    assert (debt["status"], debt["balance"], debt["customer_id"]) == ("active", 600, customer)
    assert await shop.accounts() == {
        ("receivable", customer): 600,
        ("sales", NO_OWNER): -1000,
        ("bank", NO_OWNER): 400,
    }
    assert await shop.balance(customer) is None


async def test_a_debt_changes_and_ends_and_another_begins(shop: Shop) -> None:
    """One row while it is active; after it was paid a correction opens a new one."""
    customer = await shop.customer()
    order = await shop.sell(position(1000, 400, customer))
    await shop.change(order, paid=Decimal(700))
    await shop.change(order, paid=Decimal(1000), status="completed")
    await shop.change(order, paid=Decimal(900))
    await shop.change(order, status="deleted")
    found = await shop.rows_of(order)
    assert [(row["status"], row["balance"]) for row in found["debts"]] == [
        ("paid", 0),
        ("removed", 0),
    ]
    assert all(row["closed_at"] for row in found["debts"])
    assert [(row["type"], row["amount"]) for row in found["transactions"]] == [
        ("sale", 400),
        ("debt_payment", 300),
        ("debt_payment", 300),
        ("adjustment", -100),
    ]


async def test_another_customer_takes_over_in_one_step(shop: Shop) -> None:
    """The old debt is voided and the new one opened by one statement, in this order."""
    ann, ben = await shop.customer("Ann"), await shop.customer("Ben")
    order = await shop.sell(position(1000, 400, ann))
    await shop.change(order, customer_id=ben, paid=Decimal(500))
    debts = (await shop.rows_of(order))["debts"]
    assert {(row["customer_id"], row["status"], row["balance"]) for row in debts} == {
        (ann, "voided", 0),
        (ben, "active", 500),
    }
    assert (await shop.accounts())["receivable", ben] == 500


async def test_credit_moves_with_the_customer(shop: Shop) -> None:
    """One balance is drawn and another filled in one statement; both only grow."""
    ann, ben = await shop.customer("Ann"), await shop.customer("Ben")
    order = await shop.sell(position(1000, 1500, ann, method="pos"))
    assert await shop.balance(ann) == (0, 500)
    await shop.change(order, customer_id=ben)
    assert await shop.balance(ann) == (500, 500)
    assert await shop.balance(ben) == (0, 500)
    await shop.change(order, paid=Decimal(1200))
    assert await shop.balance(ben) == (300, 500)


async def test_credit_that_was_spent_is_not_taken_back(shop: Shop) -> None:
    """The database says no with a sentence for the caller, and nothing of the change stays."""
    customer = await shop.customer()
    order = await shop.sell(position(1000, 1500, customer, method="pos"))
    before = await shop.rows_of(order)
    await spend(shop, customer, 200)
    with pytest.raises(asyncpg.CheckViolationError) as caught:
        await shop.change(order, paid=Decimal(1000))
    assert isinstance(shop.services.declared.constraints.refusal(caught.value), Refused)
    assert await shop.rows_of(order) == before
    await shop.change(order, paid=Decimal(1200))
    assert await shop.balance(customer) == (500, 500)


async def test_nothing_is_drawn_from_a_balance_that_is_not_there(shop: Shop) -> None:
    """Without a row there is no credit either: the same refusal, and nothing posted."""
    customer = await shop.customer()
    before, after = position(1000, 1500, customer, method="pos"), position(1000, 1000, customer)
    order = Order(new_id(), "", before)
    source = Source(type="order", id=order.id, happened_at=shop.moment)
    ledger = Ledger(shop.book, shop.currency, shop.moment)
    written = rows(order.id, postings(before, after), 0)
    with pytest.raises(asyncpg.CheckViolationError) as caught:
        async with shop.services.pool.transaction() as db:
            await record_postings(db, ledger, [source], written)
    assert refused([caught.value]) == [SPENT]
    assert await shop.accounts() == {}


async def test_the_same_is_never_posted_twice(shop: Shop) -> None:
    """A posting with a used number is refused."""
    order = await shop.sell(position(1000, 400))
    first = rows(order.id, postings(None, order.position), 0)
    ledger = Ledger(shop.book, shop.currency, shop.moment)
    source = Source(type="order", id=order.id, happened_at=shop.moment)
    with pytest.raises(asyncpg.UniqueViolationError) as caught:
        async with shop.services.pool.transaction() as db:
            await record_postings(db, ledger, [source], first)
    assert refused([caught.value]) == ["ledger_transfers_once"]
    assert len((await shop.rows_of(order))["transactions"]) == 1


async def test_two_equal_references_are_drawn_again(shop: Shop) -> None:
    """A reference that exists already is nobody's mistake: the transaction runs once more."""
    order = await shop.sell(position(1000, 400))
    with pytest.raises(asyncpg.UniqueViolationError) as caught:
        await shop.sql.execute(
            """
            INSERT INTO transactions (book_id, id, reference, type, status, method, amount,
                currency, source_type, source_id, customer_id, store_id, happened_at, created_at,
                updated_at)
            SELECT book_id, $2, reference, type, status, method, amount,
                currency, source_type, source_id, customer_id, store_id, happened_at, created_at,
                updated_at
            FROM transactions WHERE book_id = $1
            """,
            shop.book,
            new_id(),
        )
    assert shop.services.declared.constraints.is_chance(caught.value)
    assert len((await shop.rows_of(order))["transactions"]) == 1


async def test_first_sales_at_the_same_moment_share_their_accounts(shop: Shop) -> None:
    """Thirty orders of an empty book, at once: no deadlock, no second account, exact sums."""
    customer = await shop.customer()
    await asyncio.gather(
        *(shop.sell(position(100, 150, customer, method="pos")) for _ in range(15)),
        *(shop.sell(position(100, 40)) for _ in range(15)),
    )
    assert await shop.balance(customer) == (0, 15 * 50)
    assert await shop.accounts() == {
        ("receivable", NO_OWNER): 15 * 60,
        ("sales", NO_OWNER): -30 * 100,
        ("pos", NO_OWNER): 15 * 150,
        ("cash", NO_OWNER): 15 * 40,
        ("customer_credit", customer): -15 * 50,
    }


async def test_of_many_who_take_credit_back_as_many_win_as_there_is_credit(shop: Shop) -> None:
    """Ten orders gave 50 each, 230 were spent: of ten corrections at once five pass."""
    customer = await shop.customer()
    orders = [await shop.sell(position(100, 150, customer, method="pos")) for _ in range(10)]
    await spend(shop, customer, 230)
    results = await asyncio.gather(
        *(shop.change(order, paid=Decimal(100)) for order in orders), return_exceptions=True
    )
    assert refused(list(results)) == [SPENT] * 5
    assert await shop.balance(customer) == (230 + 250, 500)


async def test_credit_that_crosses_over_does_not_deadlock(shop: Shop) -> None:
    """From Ben to Ann and from Ann to Ben, both half-way: balances are locked in order."""
    ann, ben = await shop.customer("Ann"), await shop.customer("Ben")
    here = await shop.sell(position(100, 150, ann, method="pos"))
    there = await shop.sell(position(100, 150, ben, method="pos"))
    async with shop.services.pool.transaction() as db:
        await db.execute(
            "SELECT FROM ledger_balances WHERE book_id = $1 AND owner_id = $2 FOR UPDATE",
            shop.book,
            ben,
        )
        first = asyncio.create_task(shop.change(there, customer_id=ann))
        await waiting(shop, 1)
        second = asyncio.create_task(shop.change(here, customer_id=ben))
        await waiting(shop, 2)
    await asyncio.gather(first, second)
    assert await shop.balance(ann) == (50, 100)
    assert await shop.balance(ben) == (50, 100)


async def waiting(shop: Shop, count: int) -> None:
    """Until so many connections wait for a lock."""

    async def look() -> bool | None:
        async with shop.services.pool.reading() as db:
            found = await db.fetchval(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            )
        return True if found == count else None

    await until(look)


async def test_the_ledger_is_only_added_to(shop: Shop) -> None:
    """Not even by hand is a transfer changed or removed."""
    await shop.sell(position(1000, 400))
    for statement in (
        "UPDATE ledger_transfers SET amount = 1 WHERE book_id = $1",
        "DELETE FROM ledger_transfers WHERE book_id = $1",
    ):
        with pytest.raises(asyncpg.RestrictViolationError):
            await shop.sql.execute(statement, shop.book)


async def test_no_transfer_between_two_books(shop: Shop, make: Make) -> None:
    """An account of another business, or of another currency, can't be on a transfer's side."""
    other = await Shop.of(await make.business(), shop.services, shop.sql)
    await other.sell(position(1000, 400))
    customer = await shop.customer()
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await shop.sql.execute(
            """
            INSERT INTO ledger_transfers (book_id, id, debit_kind, credit_kind, credit_owner,
                amount, currency, kind, source_type, source_id, sequence, happened_at, created_at)
            SELECT $1, $2, debit_kind, 'receivable', $3, amount, currency, kind, source_type,
                source_id, sequence, happened_at, created_at
            FROM ledger_transfers WHERE book_id = $4 LIMIT 1
            """,
            shop.book,
            new_id(),
            customer,
            other.book,
        )
