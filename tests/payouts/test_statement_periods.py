"""Periods of the statement: their entries, and sums that these entries add up to."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import asyncpg
import pytest

from tests.api import Api
from tests.make import Business, Make
from tests.payouts.test_wallet import STATEMENT, reader, spend
from tests.payouts.wallets import CURRENCY, book_of, fill
from tillhouse.access.process import Services
from tillhouse.kit.ids import BookId
from tillhouse.payouts.wallet.rules import EVER, Period
from tillhouse.payouts.wallet.store import find_sums, insert_days

# An amount in the wallet each six hours, half of them at the turn of a day in Lagos.
BEGAN = datetime(2026, 1, 1, 5, tzinfo=UTC)
CHANGES = [
    (BEGAN + n * timedelta(hours=6), Decimal(10 + n) if n % 3 else Decimal(-n) / 4)
    for n in range(40)
]
_ROWS_READ = """
    SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0) FROM pg_stat_xact_user_tables
    WHERE relname IN ('ledger_transfers', 'wallet_days')
"""


async def write(sql: asyncpg.Connection, book_id: BookId, changes: list[Any]) -> None:
    """Transfers of the past, and the balance that they give."""
    await sql.executemany(
        """
        INSERT INTO ledger_transfers (book_id, id, debit_kind, credit_kind, amount, currency, kind,
            source_type, source_id, sequence, happened_at, created_at)
        VALUES ($1, new_id($2),
            CASE WHEN $3::numeric > 0 THEN 'provider_clearing' ELSE 'wallet' END,
            CASE WHEN $3::numeric > 0 THEN 'wallet' ELSE 'provider_clearing' END,
            abs($3), $4, 'deposit', 'deposit', gen_random_uuid(), 0, $2, $2)
        """,
        [(book_id, at, amount, CURRENCY) for at, amount in changes if amount],
    )
    await sql.execute(
        """
        UPDATE ledger_balances SET credits = credits + $2, debits = debits + $3
        WHERE book_id = $1 AND kind = 'wallet'
        """,
        book_id,
        sum(amount for _, amount in changes if amount > 0),
        -sum(amount for _, amount in changes if amount < 0),
    )


async def pages(api: Api, **query: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The entries of all pages of a period, and its sums, which each page tells."""
    found: list[dict[str, Any]] = []
    summaries: list[dict[str, Any]] = []
    more: dict[str, Any] = {}
    while True:
        answer = await api.get(f"{STATEMENT}?{urlencode(query | more)}", status=200)
        found += answer.data
        summaries.append(answer.json["summary"])
        if not answer.json["meta"]["hasMore"]:
            break
        more = {"cursor": answer.json["meta"]["nextCursor"]}
    assert all(one == summaries[0] for one in summaries)
    return found, summaries[0]


def check(found: list[dict[str, Any]], told: dict[str, Any]) -> None:
    """The sums are those of the entries, and the balances lead from one end to the other."""
    amounts = [Decimal(str(one["amount"])) for one in found]
    sums = {name: Decimal(str(value)) for name, value in told.items() if name != "currency"}
    assert sums["totalIn"] == sum(amount for amount in amounts if amount > 0)
    assert sums["totalOut"] == -sum(amount for amount in amounts if amount < 0)
    balance = sums["openingBalance"]
    for entry, amount in zip(reversed(found), reversed(amounts), strict=True):
        balance += amount
        assert Decimal(str(entry["balanceAfter"])) == balance
    assert balance == sums["closingBalance"]


@pytest.mark.parametrize("is_summed", [False, True])
async def test_the_sums_of_a_period_add_up(
    services: Services, make: Make, sql: asyncpg.Connection, *, is_summed: bool
) -> None:
    """Of each period, whether or not its days are summed up; its days are those of the business."""
    business = await make.business(currency=CURRENCY, time_zone="Africa/Lagos")
    book_id = await book_of(services, business)
    await fill(services, book_id, "0.50")
    await write(sql, book_id, CHANGES)
    if is_summed:
        async with services.pool.transaction() as db:
            days = [await insert_days(db, [book_id], date(2026, 1, 8), 200) for _ in range(9)]
        assert sum(days) == 7
    api = await reader(business)
    for first, last in ((1, 1), (1, 3), (2, 2), (2, 9), (5, 30), (12, 12), (None, 4), (6, None)):
        query = {"from": first and f"2026-01-{first:02}", "to": last and f"2026-01-{last:02}"}
        found, told = await pages(api, limit=7, **{k: day for k, day in query.items() if day})
        here = [(at + timedelta(hours=1), amount) for at, amount in CHANGES if amount]
        wanted = [a for at, a in here if (first or 1) <= at.day <= (last or 31)]
        if last is None:
            wanted.append(Decimal("0.5"))
        assert [Decimal(str(one["amount"])) for one in found] == wanted[::-1]
        check(found, told)
        assert told["currency"] == CURRENCY


async def test_today_goes_on(services: Services, business: Business) -> None:
    """A period that isn't over ends with the newest entry, also of another business's none."""
    book_id = await book_of(services, business)
    await fill(services, book_id, 100)
    await spend(services, book_id, 30)
    api = await reader(business)
    found, told = await pages(api, **{"from": "2026-01-01", "to": "2200-01-01"}, limit=1)
    assert [one["amount"] for one in found] == [-30, 100]
    check(found, told)
    assert (await api.get(STATEMENT, status=200)).json["summary"] is None


async def test_an_empty_wallet_has_sums(business: Business) -> None:
    """All of them are nothing."""
    api = await reader(business)
    found, told = await pages(api, **{"from": "2026-01-01"})
    assert (found, told) == ([], {
        "currency": CURRENCY, "openingBalance": 0, "totalIn": 0, "totalOut": 0, "closingBalance": 0,
    })  # fmt: skip


@pytest.mark.parametrize("period", [
    {"from": "1900-01-01", "to": "1969-12-31"}, {"from": "1969-12-31", "to": "1969-12-31"},
    {"from": "2200-12-31", "to": "2200-12-31"},
])  # fmt: skip
async def test_a_period_without_any_wallet_is_empty(
    services: Services, business: Business, period: dict[str, str]
) -> None:
    """Before the first entry that there can be, and after the last one, no day is refused."""
    await fill(services, await book_of(services, business), 5)
    found, told = await pages(await reader(business), **period)
    assert (found, told["totalIn"]) == ([], 0)
    assert told["closingBalance"] == (5 if period["to"] > "2000" else 0)


async def test_a_period_that_is_none_is_refused(services: Services, business: Business) -> None:
    """By the name of what is wrong, also a cursor of another period."""
    book_id = await book_of(services, business)
    for _ in range(2):
        await fill(services, book_id, 1)
    api = await reader(business)
    wrong = {
        "from=2026-02-30": "from",
        "to=soon": "to",
        "from=2026-01-02&to=2026-01-01": "to",
        "from=2026-01-02T10:00:00Z": "from",
    }
    for query, field in wrong.items():
        assert (await api.get(f"{STATEMENT}?{query}", status=422)).wrong_fields == {field}
    after = (await api.get(f"{STATEMENT}?limit=1", status=200)).json["meta"]["nextCursor"]
    later = await api.get(f"{STATEMENT}?to=2026-01-01&cursor={after}", status=422)
    assert later.wrong_fields == {"cursor"}


async def test_a_year_reads_its_days(
    services: Services, business: Business, sql: asyncpg.Connection
) -> None:
    """Days that are summed up take the place of their transfers, however many there were."""
    book_id = await book_of(services, business)
    await fill(services, book_id, 1)
    minute = timedelta(minutes=1)
    await write(sql, book_id, [(BEGAN + n * minute, Decimal(1)) for n in range(5000)])
    await sql.execute("ANALYZE ledger_transfers")
    async with services.pool.transaction() as db:
        while await insert_days(db, [book_id], date(2026, 2, 1), 200):
            pass
        before = await db.fetchval(_ROWS_READ)
        row = await find_sums(db, book_id, Period(EVER[0], datetime(2026, 2, 1, tzinfo=UTC)))
        assert (row["came_in"], row["went_out"], row["closing"]) == (5000, 0, 5000)
        assert await db.fetchval(_ROWS_READ) - before <= 50
        assert isinstance(row["beyond"], UUID)
