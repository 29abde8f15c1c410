"""The wallet and its statement."""

import asyncio
from decimal import Decimal
from typing import Any

import asyncpg

from tests.api import Api
from tests.make import Business, Make
from tests.payouts.wallets import CURRENCY, book_of, fill, wallet
from tillhouse.access.process import Services
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId, new_id
from tillhouse.ledger.posting import WantedHold, hold, settle
from tillhouse.ledger.rules import Account, Ledger, Postings, Source, Transfer
from tillhouse.ledger.store.posting import record_postings, rows
from tillhouse.payouts.wallet.rules import Position
from tillhouse.payouts.wallet.store import list_entries

STATEMENT = "/v1/wallet/statement"
_ROWS_READ = """
    SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables
    WHERE relname = 'ledger_transfers'
"""
WALLET, TRANSIT = Account("wallet"), Account("withdrawals_in_transit")


async def reader(business: Business) -> Api:
    """A client that may read the wallet."""
    return await business.client("wallet:read")


async def every_entry(api: Api, limit: int) -> list[dict[str, Any]]:
    """The entries of all pages of this size."""
    found: list[dict[str, Any]] = []
    path: str | None = f"{STATEMENT}?limit={limit}"
    while path:
        answer = await api.get(path, status=200)
        found += answer.data
        assert answer.json["meta"]["hasMore"] is (answer.json["meta"]["nextCursor"] is not None)
        after = answer.json["meta"]["nextCursor"]
        path = f"{STATEMENT}?limit={limit}&cursor={after}" if after else None
    return found


async def spend(services: Services, book_id: BookId, amount: int) -> None:
    """Hold an amount, and let it leave the wallet."""
    ledger = Ledger(book_id, CURRENCY, now())
    source = Source(type="deposit", id=new_id(), happened_at=ledger.now)
    async with services.pool.transaction() as db:
        held = await hold(db, ledger, source, WantedHold(WALLET, Decimal(amount), "withdrawal"))
        await settle(db, ledger, held, TRANSIT, kind="withdrawal")


async def test_an_empty_wallet_reads_as_empty(business: Business) -> None:
    """Before the first deposit there is no account, and yet an answer."""
    api = await reader(business)
    assert await wallet(api) == {
        "balance": 0,
        "available": 0,
        "held": 0,
        "currency": CURRENCY,
        "pendingWithdrawals": 0,
        "pendingWithdrawalsAmount": 0,
    }
    assert (await api.get(STATEMENT, status=200)).json["data"] == []


async def test_a_hold_lowers_what_is_available(services: Services, business: Business) -> None:
    """The balance stays, and less of it can be withdrawn."""
    book_id = await book_of(services, business)
    await fill(services, book_id, "100.50")
    ledger = Ledger(book_id, CURRENCY, now())
    source = Source(type="deposit", id=new_id(), happened_at=ledger.now)
    async with services.pool.transaction() as db:
        await hold(db, ledger, source, WantedHold(WALLET, Decimal(40), "withdrawal"))
    seen = await wallet(await reader(business))
    assert (seen["balance"], seen["held"], seen["available"]) == (100.5, 40, 60.5)


async def test_each_entry_tells_the_balance_after_it(
    services: Services, business: Business
) -> None:
    """Each balance is the sum of all that came before, whatever the size of the pages."""
    book_id = await book_of(services, business)
    amounts = [500, -120, 30, 30, -440, 1000, -1, -2]
    for amount in amounts:
        await (fill if amount > 0 else spend)(services, book_id, abs(amount))
    api = await reader(business)
    for limit in (1, 3, 8, 50):
        found = await every_entry(api, limit)
        assert [one["amount"] for one in found] == amounts[::-1]
        sums = [sum(amounts[: count + 1]) for count in range(len(amounts))]
        assert [one["balanceAfter"] for one in found] == sums[::-1]
    assert [one["reference"] is not None for one in found] == [a > 0 for a in amounts[::-1]]


async def test_a_late_commit_is_in_the_balances_of_later_pages(
    services: Services, business: Business
) -> None:
    """A transfer with a lower id that commits between two pages raises all that is above it."""
    book_id = await book_of(services, business)
    await fill(services, book_id, 100)
    moment = now()
    late = Source(type="deposit", id=new_id(), happened_at=moment)
    postings = Postings((Transfer(Account("bank"), WALLET, Decimal(7), "wallet_deposit"),))
    async with services.pool.transaction() as db:
        await db.fetchval("SELECT 1")
        # Its id is made now, and the others' later; a nested transaction shows it only at the end.
        written = rows(late.id, postings, 0)
        await fill(services, book_id, 10)
        await fill(services, book_id, 1)
        api = await reader(business)
        first = await api.get(f"{STATEMENT}?limit=2", status=200)
        assert [one["balanceAfter"] for one in first.data] == [111, 110]
        await record_postings(db, Ledger(book_id, CURRENCY, moment), [late], written)
    after = first.json["meta"]["nextCursor"]
    rest = (await api.get(f"{STATEMENT}?cursor={after}", status=200)).data
    assert [(one["amount"], one["balanceAfter"]) for one in rest] == [(7, 107), (100, 100)]


async def test_a_statement_stays_right_while_it_grows(
    services: Services, business: Business
) -> None:
    """Entries that come between two pages belong to none of the older ones."""
    book_id = await book_of(services, business)
    for _ in range(5):
        await fill(services, book_id, 10)
    api = await reader(business)
    first = await api.get(f"{STATEMENT}?limit=2", status=200)
    await asyncio.gather(*(fill(services, book_id, 3) for _ in range(4)))
    after = first.json["meta"]["nextCursor"]
    second = (await api.get(f"{STATEMENT}?cursor={after}", status=200)).data
    assert [one["balanceAfter"] for one in first.data + second] == [50, 40, 30, 20, 10]


async def test_a_cursor_that_is_none_is_refused(business: Business) -> None:
    """Any other text is a 422 that names it."""
    api = await reader(business)
    some = "0199a7c0-0000-7000-8000-000000000000"
    for cursor in (
        "x",
        some,
        f"{some}_1",
        f"{some}_1_1e9",
        f"{some}_1_{'9' * 17}",
        f"{some}_1_1_1",
    ):
        answer = await api.get(f"{STATEMENT}?cursor={cursor}", status=422)
        assert answer.wrong_fields == {"cursor"}


async def test_a_cursor_of_another_hand_is_refused(services: Services, make: Make) -> None:
    """With a balance that was never told, a place of another page, or another wallet's."""
    businesses = [await make.business() for _ in range(2)]
    cursors = []
    for business in businesses:
        book_id = await book_of(services, business)
        for _ in range(3):
            await fill(services, book_id, 10)
        api = await reader(business)
        for limit in (1, 2):
            page = await api.get(f"{STATEMENT}?limit={limit}", status=200)
            cursors.append(page.json["meta"]["nextCursor"])
    others, own = cursors[:2], cursors[2:]
    [entry] = (await api.get(f"{STATEMENT}?cursor={own[1]}", status=200)).data
    assert entry["balanceAfter"] == 10
    (first, *_, mark), (second, *_, other) = (one.split("_", 3) for one in own)
    forged = (
        f"{first}_1000000_0_{mark}",
        f"{first}_20_1_{mark}",
        f"{second}_20_0_{mark}",
        f"{first}_20.00_0_{other}",
        f"{first}_20_0_{'A' * 43}",
    )
    for cursor in (*forged, *others):
        answer = await api.get(f"{STATEMENT}?cursor={cursor}", status=422)
        assert answer.wrong_fields == {"cursor"}


async def test_a_page_reads_no_more_than_its_rows(
    services: Services, business: Business, sql: asyncpg.Connection
) -> None:
    """The plan of a page in the middle of a long statement touches a page of each index."""
    book_id = await book_of(services, business)
    await fill(services, book_id, 1)
    await sql.execute(
        """
        INSERT INTO ledger_transfers (book_id, id, debit_kind, credit_kind, amount, currency, kind,
            source_type, source_id, sequence, happened_at, created_at)
        SELECT $1, new_id(at), 'provider_clearing', 'wallet', 1, $2, 'deposit', 'deposit',
            gen_random_uuid(), 0, at, at
        FROM generate_series(1, 3000) n, LATERAL (
            SELECT '2026-01-01Z'::timestamptz + n * interval '1 minute' AS at) moment
        """,
        book_id,
        CURRENCY,
    )
    await sql.execute("ANALYZE ledger_transfers")
    middle = await sql.fetchval(
        "SELECT id FROM ledger_transfers WHERE book_id = $1 ORDER BY id OFFSET 1500 LIMIT 1",
        book_id,
    )
    async with services.pool.transaction() as db:
        for position in (None, Position(middle, Decimal(9), Decimal(0))):
            before = await db.fetchval(_ROWS_READ)
            assert len(await list_entries(db, book_id, position, 20)) == 21
            assert await db.fetchval(_ROWS_READ) - before <= 50
