"""Holds, their ends and reversals: each once, whoever comes together, and never below zero."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterable
from decimal import Decimal
from typing import LiteralString

import asyncpg
import pytest

from tests.ledger.books import CASH, EXPENSES, TRANSIT, WALLET, Books
from tests.make import Make
from tillhouse.kit.errors import Conflict, Missing, Refused
from tillhouse.kit.ids import new_id
from tillhouse.ledger.posting import (
    AlreadyReversed,
    HoldEnded,
    Insufficient,
    NotReversible,
    WantedHold,
    hold,
    post,
    post_all,
)
from tillhouse.ledger.rules import Account, Postings, Transfer
from tillhouse.ledger.store.holds import Balance, end_expired

MANY = 50


async def outcomes(works: Iterable[Awaitable[object]]) -> Counter[str]:
    """How many of those at once ended how."""
    results = await asyncio.gather(*works, return_exceptions=True)
    return Counter(
        getattr(result, "constraint_name", None) or type(result).__name__
        if isinstance(result, BaseException)
        else "done"
        for result in results
    )


async def test_a_hold_keeps_an_amount_from_others(books: Books) -> None:
    """It is still there, and no longer available, to another hold as to a transfer."""
    await books.top_up(1000)
    await books.hold(700)
    assert await books.balance() == Balance(Decimal(1000), Decimal(700))
    with pytest.raises(Insufficient):
        await books.hold(301)
    with pytest.raises(asyncpg.CheckViolationError) as caught:
        await books.post(WALLET, EXPENSES, 301)
    told = books.services.declared.constraints.refusal(caught.value)
    assert isinstance(told, Refused)
    assert "wallet" in told.message
    await books.post(WALLET, EXPENSES, 300)
    assert (await books.balance()).available == 0
    assert await books.faults() == []


async def test_a_hold_is_posted_wholly_or_in_part(books: Books) -> None:
    """The part that isn't taken is available again; more than was held is refused."""
    await books.top_up(1000)
    whole, part = await books.hold(600), await books.hold(400)
    with pytest.raises(Insufficient):
        await books.settle(part, 401)
    await books.settle(whole)
    await books.settle(part, 150)
    assert await books.balance() == Balance(Decimal(250), Decimal(0))
    assert await books.held(TRANSIT) == 750
    assert await books.faults() == []


async def test_a_hold_ends_once(books: Books) -> None:
    """Neither after it was posted nor after it was released is there anything left of it."""
    await books.top_up(1000)
    posted, released = await books.hold(300), await books.hold(300)
    await books.settle(posted)
    await books.release(released)
    before = await books.balance()
    for one in (posted, released):
        with pytest.raises(HoldEnded):
            await books.settle(one)
        with pytest.raises(HoldEnded):
            await books.release(one)
    assert await books.balance() == before == Balance(Decimal(700), Decimal(0))
    for unknown in (books.settle, books.release):
        with pytest.raises(Missing):
            await unknown(new_id())


async def test_a_hold_of_another_book_is_not_there(books: Books, make: Make) -> None:
    """Nor is its wallet."""
    await books.top_up(1000)
    mine = await books.hold(300)
    other = await Books.of(await make.business(), books.services, books.sql)
    for foreign in (other.settle, other.release, other.reverse):
        with pytest.raises(Missing):
            await foreign(mine)
    with pytest.raises(Insufficient):
        await other.hold(1)


async def test_a_hold_whose_time_is_over_counts_no_more(books: Books) -> None:
    """At once in what is available, and for whoever needs the amount; it can't be posted."""
    await books.top_up(1000)
    short, long = await books.hold(600, lasts=60), await books.hold(300, lasts=3600)
    books.later(60)
    assert (await books.balance()).available == 700
    with pytest.raises(HoldEnded):
        await books.settle(short)
    with pytest.raises(Insufficient):
        await books.hold(701)
    await books.hold(700)
    await books.settle(long)
    assert await books.balance() == Balance(Decimal(700), Decimal(700))
    assert await books.faults() == []


async def test_what_expired_is_released_in_all_books(books: Books, make: Make) -> None:
    """Once, as far as it is due."""
    other = await Books.of(await make.business(), books.services, books.sql)
    for each in (books, other):
        await each.top_up(1000)
        for lasts in (10, 20, 1000):
            await each.hold(100, lasts=lasts)
        each.later(20)
    async with books.services.pool.transaction() as db:
        released = await end_expired(db, other.moment, 1000)
        again = await end_expired(db, other.moment, 1000)
    assert (released >= 4, again) == (True, 0)
    for each in (books, other):
        held = "SELECT held FROM ledger_balances WHERE book_id = $1"
        assert await each.sql.fetchval(held, each.book) == 100
        assert await each.faults() == []


async def test_the_same_is_held_once(books: Books) -> None:
    """A source that comes twice is refused by the database, unless it counts on."""
    await books.top_up(1000)
    source = books.source()
    await books.run(hold, source, WantedHold(WALLET, Decimal(100), "withdrawal"))
    with pytest.raises(asyncpg.UniqueViolationError) as caught:
        await books.run(hold, source, WantedHold(WALLET, Decimal(100), "withdrawal"))
    assert caught.value.constraint_name == "ledger_holds_once"
    await books.run(hold, source, WantedHold(WALLET, Decimal(100), "withdrawal", sequence=1))
    assert (await books.balance()).held == 200


async def test_several_sources_post_together_or_not_at_all(books: Books) -> None:
    """One statement: each keeps its own ids, and one that can't be had stops all."""
    ins = [(books.source(), paid(CASH, WALLET, 10)) for _ in range(3)]
    posted = await books.run(post_all, ins)
    assert len({one.transfers[0] for one in posted}) == 3
    assert await books.balance() == Balance(Decimal(30), Decimal(0))
    outs = [(books.source(), paid(WALLET, EXPENSES, amount)) for amount in (10, 10, 11)]
    with pytest.raises(asyncpg.CheckViolationError):
        await books.run(post_all, outs)
    await books.run(post_all, outs[:2])
    assert await books.balance() == Balance(Decimal(10), Decimal(0))
    assert await books.faults() == []


def paid(debit: Account, credit: Account, amount: int) -> Postings:
    """One transfer."""
    return Postings((Transfer(debit, credit, Decimal(amount), "payment"),))


async def test_the_same_id_of_another_type_is_another_source(books: Books) -> None:
    """Type and id make the source, not the id alone."""
    source, postings = books.source(), paid(CASH, WALLET, 5)
    await books.run(post, source, postings)
    with pytest.raises(asyncpg.UniqueViolationError) as caught:
        await books.run(post, source, postings)
    assert caught.value.constraint_name == "ledger_transfers_once"
    other = type(source)(type="gift", id=source.id, happened_at=source.happened_at)
    await books.run(post, other, postings)
    assert (await books.balance()).amount == 10


async def test_a_reversal_undoes_a_transfer_once(books: Books) -> None:
    """Both ways, and never a reversal itself."""
    paid_in = await books.top_up(1000)
    spent = await books.post(WALLET, EXPENSES, 400)
    undone = await books.reverse(spent)
    assert await books.held(EXPENSES) == 0
    with pytest.raises(AlreadyReversed):
        await books.reverse(spent)
    with pytest.raises(NotReversible):
        await books.reverse(undone)
    with pytest.raises(Missing):
        await books.reverse(new_id())
    await books.reverse(paid_in)
    assert await books.balance() == Balance(Decimal(0), Decimal(0))
    assert await books.faults() == []


async def test_what_was_spent_is_not_reversed(books: Books) -> None:
    """Money that came in and is held or gone stays booked as it is."""
    paid_in = await books.top_up(1000)
    await books.hold(1)
    with pytest.raises(asyncpg.CheckViolationError):
        await books.reverse(paid_in)
    assert await books.balance() == Balance(Decimal(1000), Decimal(1))
    assert await books.faults() == []


async def test_of_fifty_holds_against_a_balance_for_one_one_is_held(books: Books) -> None:
    """At the same moment."""
    await books.top_up(1000)
    ended = await outcomes(books.hold(600) for _ in range(MANY))
    assert ended == {"done": 1, "Insufficient": MANY - 1}
    assert await books.balance() == Balance(Decimal(1000), Decimal(600))
    assert await books.faults() == []


async def test_of_many_transfers_as_many_pass_as_there_is_money(books: Books) -> None:
    """Transfers and holds of one wallet, mixed."""
    await books.top_up(1000)
    ended = await outcomes(
        books.hold(100) if number % 2 else books.post(WALLET, EXPENSES, 100)
        for number in range(MANY)
    )
    assert ended["done"] == 10
    assert ended["Insufficient"] + ended["ledger_wallets_not_below_zero"] == MANY - 10
    assert (await books.balance()).available == 0
    assert await books.faults() == []


async def test_of_many_ends_of_one_hold_one_counts(books: Books) -> None:
    """Posted by some and released by others, at the same moment."""
    await books.top_up(1000)
    one = await books.hold(600)
    ended = await outcomes(
        books.settle(one) if number % 2 else books.release(one) for number in range(MANY)
    )
    assert ended == {"done": 1, "HoldEnded": MANY - 1}
    balance = await books.balance()
    assert balance in (Balance(Decimal(1000), Decimal(0)), Balance(Decimal(400), Decimal(0)))
    assert await books.held(TRANSIT) == 1000 - balance.amount
    assert await books.faults() == []


async def test_of_many_reversals_of_one_transfer_one_counts(books: Books) -> None:
    """The others are told so, by the rule or by the database."""
    await books.top_up(1000)
    spent = await books.post(WALLET, EXPENSES, 400)
    ended = await outcomes(books.reverse(spent) for _ in range(MANY))
    refused = ended["AlreadyReversed"] + ended["ledger_transfers_reversed_once"]
    assert (ended["done"], refused) == (1, MANY - 1)
    assert (await books.balance()).amount == 1000


async def test_a_late_reversal_is_a_conflict_in_the_same_words(books: Books) -> None:
    """The database's judgement reads as the rule's."""
    spent = await books.top_up(1000)
    await books.reverse(spent)
    with pytest.raises(asyncpg.UniqueViolationError) as caught:
        await books.sql.execute(
            """
            INSERT INTO ledger_transfers SELECT book_id, $2, debit_kind, debit_owner, credit_kind,
                credit_owner, amount, currency, kind, source_type, $2, sequence, reverses_id,
                happened_at, created_at
            FROM ledger_transfers WHERE book_id = $1 AND reverses_id IS NOT NULL
            """,
            books.book,
            new_id(),
        )
    told = books.services.declared.constraints.refusal(caught.value)
    assert isinstance(told, Conflict)
    assert told.message == AlreadyReversed.message


ATTACKS: list[LiteralString] = [
    "UPDATE ledger_holds SET amount = 1 WHERE book_id = $1",
    "UPDATE ledger_holds SET expires_at = now() WHERE book_id = $1",
    "UPDATE ledger_holds SET status = 'pending', ended_at = NULL WHERE book_id = $1",
    "UPDATE ledger_holds SET ended_at = now() + interval '1 day' WHERE book_id = $1 "
    "AND status = 'released'",
    "DELETE FROM ledger_holds WHERE book_id = $1",
    "UPDATE ledger_balances SET debits = debits - 1 WHERE book_id = $1",
    "UPDATE ledger_balances SET credits = credits - 1 WHERE book_id = $1",
    "UPDATE ledger_balances SET kind = 'customer_credit' WHERE book_id = $1",
    "DELETE FROM ledger_balances WHERE book_id = $1",
]


@pytest.mark.parametrize("statement", ATTACKS)
async def test_what_was_held_is_not_rewritten(books: Books, statement: LiteralString) -> None:
    """Not even by hand: a hold ends once, and counters only grow."""
    await books.top_up(1000)
    await books.post(WALLET, EXPENSES, 10)
    await books.release(await books.hold(10))
    await books.hold(100)
    with pytest.raises(asyncpg.RestrictViolationError):
        await books.sql.execute(statement, books.book)


async def test_a_hold_is_of_one_account_of_its_currency(books: Books) -> None:
    """An account of another currency, or that isn't there, holds nothing."""
    await books.top_up(1000)
    for wrong in ("currency = 'USD'", "account_kind = 'customer_credit'"):
        column, value = wrong.split(" = ")
        columns = {"currency": "'NGN'", "account_kind": "'wallet'", column: value}
        with pytest.raises(asyncpg.ForeignKeyViolationError):
            await books.sql.execute(
                f"""
                INSERT INTO ledger_holds (book_id, id, account_kind, account_owner, amount,
                    currency, kind, source_type, source_id, sequence, status, created_at)
                VALUES ($1, $2, {columns["account_kind"]}, '{WALLET.owner_id}', 1,
                    {columns["currency"]}, 'x', 'top_up', $2, 0, 'pending', now())
                """,  # noqa: S608
                books.book,
                new_id(),
            )


async def test_holds_of_crossing_wallets_do_not_deadlock(books: Books) -> None:
    """Two customers' credits, moved to and fro by many at once: locked in order."""
    ann, ben = (Account("customer_credit", new_id()) for _ in range(2))
    for each in (ann, ben):
        await books.top_up(1000, each)
    ended = await outcomes(
        books.post(*((ann, ben) if number % 2 else (ben, ann)), 10) for number in range(MANY)
    )
    assert ended == {"done": MANY}
    assert await books.faults() == []
