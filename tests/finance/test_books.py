"""The books are read: accounts that sum to zero at any day, and every entry once."""

import csv
import io
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import asyncpg

from tests.finance.books import EXPENSES, Body, Books
from tests.finance.conftest import Open
from tests.finance.walker import Walker
from tests.orders.shop import at_noon, exact
from tillhouse.access.process import Services
from tillhouse.kit.clock import now
from tillhouse.ledger.store.sums import insert_days

_ACCOUNTS, _ENTRIES = "/v1/ledger/accounts", "/v1/ledger/entries"


async def _sold(books: Books) -> Body:
    ada = await books.shop.customer("Ada")
    await books.sell(100, occurred_at="2026-01-05T10:00:00Z")
    order = await books.sell(60, amount_paid=20, customer_id=ada["id"])
    await books.sell(30, amount_paid=50)
    await books.spend(7)
    return order


async def _days(books: Books) -> list[str | None]:
    """The days of which balances are compared; None: all that is booked."""
    today = date.fromisoformat((await books.summary())["date"])
    return [None, "2026-01-05", *((today - timedelta(days=ago)).isoformat() for ago in range(5))]


async def _balances(books: Books, day: str | None) -> Any:
    return exact(await books.look(_ACCOUNTS, {"date": day} if day else {}))


async def _summed_up(services: Services, book_id: UUID, before: date) -> int:
    async with services.pool.writing_once() as db:
        return await insert_days(db, [book_id], before, 100)


async def _entries(books: Books, **query: object) -> list[Body]:
    """Every entry that fits, from all pages."""
    found: list[Body] = []
    cursor: Body = {}
    while True:
        page = await books.look(_ENTRIES, {**query, **cursor, "limit": 3})
        found += exact(page)
        if not page.json["meta"]["hasMore"]:
            assert page.json["meta"]["nextCursor"] is None
            return found
        cursor = {"cursor": page.json["meta"]["nextCursor"]}


async def test_accounts_sum_to_zero_at_every_day(open_books: Open) -> None:
    """By the day on which money moved; without a day of all that is booked."""
    books = await open_books(time_zone="Africa/Lagos", currency="NGN")
    await _sold(books)
    seen = exact(await books.look(_ACCOUNTS, {}))
    balances = {one["account"]: one["balance"] for one in seen["accounts"]}
    assert balances == {"cash": 143, "expenses": 7, "receivable": 40, "sales": -190}
    assert seen["totals"] == [
        {"currency": "NGN", "debits": 387, "credits": 387, "difference": 0}
    ]  # fmt: skip
    then = exact(await books.look(_ACCOUNTS, {"date": "2026-01-05"}))
    assert then["date"] == "2026-01-05"
    assert {one["account"]: one["balance"] for one in then["accounts"]} == {
        "cash": 100, "receivable": 0, "sales": -100,
    }  # fmt: skip
    before = exact(await books.look(_ACCOUNTS, {"date": "2026-01-04"}))
    assert (before["accounts"], before["totals"]) == ([], [])


async def test_entries_are_read_to_their_end(open_books: Open) -> None:
    """Each once, the newest first; of an account, of a customer, of a source, of a day."""
    books = await open_books(time_zone=at_noon())
    order = await _sold(books)
    everything = await _entries(books)
    ids = [one["id"] for one in everything]
    assert ids == sorted(ids, reverse=True)
    assert len(set(ids)) == len(ids) == 8
    cash = await _entries(books, account="cash")
    assert cash == [
        one for one in everything if "cash" in (one["debit"]["account"], one["credit"]["account"])
    ]
    sides = [(one["debit"]["account"] == "cash", one["amount"]) for one in cash]
    assert sum((amount if is_in else -amount for is_in, amount in sides), Decimal(0)) == 143
    customer = order["customer"]["id"]
    owed = await _entries(books, account="receivable", customer_id=customer)
    assert {one["source"]["id"] for one in owed} == {order["id"]}
    assert await _entries(books, source_id=order["id"]) == owed
    today = date.fromisoformat((await books.summary())["date"])
    assert await _entries(books, since=today.isoformat(), until=today.isoformat()) == everything
    assert await _entries(books, until="2026-01-05") == []


async def test_entries_are_read_by_the_day_of_the_money(open_books: Open) -> None:
    """A sale that was booked later is on its own day, whatever else is asked; to the last page."""
    books = await open_books(time_zone="Pacific/Kiritimati")
    order = await _sold(books)
    # In a zone 14 hours ahead it is the sixth by then.
    await books.sell(45, occurred_at="2026-01-05T10:30:00Z")
    await books.sell(70, occurred_at="2026-01-05T09:30:00Z")
    everything = await _entries(books)
    assert {one["day"] for one in everything} >= {"2026-01-05", "2026-01-06"}
    day: Body = {"occurred_from": "2026-01-06", "occurred_to": "2026-01-06"}
    then = [one for one in everything if one["day"] == "2026-01-06"]
    then.sort(key=lambda one: (one["occurredAt"], one["id"]), reverse=True)
    assert {one["amount"] for one in then} == {100, 45}
    assert await _entries(books, **day) == then
    assert await _entries(books, **day, kind="sale") == [x for x in then if x["kind"] == "sale"]
    assert await _entries(books, **day, **{"from": "2026-01-05", "to": "2026-01-06"}) == []
    cash = [x for x in then if "cash" in (x["debit"]["account"], x["credit"]["account"])]
    assert await _entries(books, **day, account="cash") == cash != then
    source = then[0]["source"]["id"]
    own = [one for one in then if one["source"]["id"] == source]
    assert await _entries(books, **day, source_id=source) == own
    assert await _entries(books, **day, source_id=order["id"]) == []
    assert await _entries(books, occurred_to="2026-01-05") == [
        one for one in everything if one["day"] == "2026-01-05"
    ]
    since = await _entries(books, occurred_from="2026-01-07")
    assert len(since) == len([one for one in everything if one["day"] > "2026-01-06"])
    owed = {"account": "receivable", "customer_id": order["customer"]["id"]}
    assert len(await _entries(books, **owed, occurred_from="2026-01-07")) == 2
    sheet = await books.api.get(f"{_ENTRIES}?format=csv&occurred_to=2026-01-05", status=200)
    [line, *_] = csv.DictReader(io.StringIO(sheet.body.decode()))
    assert line["day"] == "2026-01-05"


async def test_balances_are_the_same_from_sums(
    open_books: Open, services: Services, sql: asyncpg.Connection
) -> None:
    """Summed up by days of booking, at whichever time zone's days; each entry counts once."""
    books = await open_books(time_zone="Asia/Kathmandu", currency="NGN")
    await _sold(books)
    walker = Walker(books, services, 11)
    await walker.prepare()
    for _ in range(40):
        await walker.step()
    before = [await _balances(books, day) for day in await _days(books)]
    tomorrow = now().date() + timedelta(days=1)
    for _ in range(2):
        while await _summed_up(services, books.shop.book, tomorrow):
            pass
        assert [await _balances(books, day) for day in await _days(books)] == before
    kept = await sql.fetchval(_KEPT, books.shop.book)
    assert kept == sum(one["debits"] for one in before[0]["totals"])


async def test_entries_and_balances_are_tables(open_books: Open) -> None:
    """As CSV: the same rows, in larger pages; the header leads to the next."""
    books = await open_books(time_zone=at_noon(), currency="NGN")
    await _sold(books)
    everything = await _entries(books)
    found: list[Body] = []
    path: str | None = f"{_ENTRIES}?format=csv&limit=3"
    while path is not None:
        answer = await books.api.get(path, status=200)
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        found += csv.DictReader(io.StringIO(answer.body.decode()))
        link = answer.headers.get("link")
        path = link.removeprefix("<").removesuffix('>; rel="next"') if link else None
    assert [one["id"] for one in found] == [one["id"] for one in everything]
    assert [Decimal(one["amount"]) for one in found] == [one["amount"] for one in everything]
    assert found[0]["debit_account"] == everything[0]["debit"]["account"]
    accounts = await books.api.get(f"{_ACCOUNTS}?format=csv", status=200)
    rows = list(csv.DictReader(io.StringIO(accounts.body.decode())))
    assert [one["account"] for one in rows] == [
        "cash", "expenses", "receivable", "sales", "total",
    ]  # fmt: skip
    assert rows[-1] == {
        "account": "total", "currency": "NGN", "debits": "387.00", "credits": "387.00",
        "balance": "0.00",
    }  # fmt: skip
    for query in ({"limit": 101}, {"limit": 2001, "format": "csv"}, {"kind": "Sale"}):
        refused = await books.look(_ENTRIES, query, status=422)
        assert [one["field"] for one in refused.json["details"]] == [next(iter(query))]


async def test_entries_of_a_kind(open_books: Open) -> None:
    """With an account, a customer or a source as well; what every sale makes, and what few make."""
    books = await open_books(time_zone=at_noon(), currency="NGN")
    order = await _sold(books)
    spent = await books.spend(9)
    await books.api.delete(f"{EXPENSES}/{spent['id']}", status=200)
    everything = await _entries(books)
    for kind in ("sale", "payment", "expense", "change", "reversal", "change,reversal,expense",
                 "expense,expense", "sale,change", "payment,sale"):  # fmt: skip
        kinds = kind.split(",")
        wanted = [one for one in everything if one["kind"] in kinds]
        assert {one["kind"] for one in wanted} == set(kinds), "the books have all of these"
        assert await _entries(books, kind=kind) == wanted, kind
        assert await _entries(books, kind=kind, account="cash") == [
            one for one in wanted if "cash" in (one["debit"]["account"], one["credit"]["account"])
        ], kind
    rows = await books.api.get(f"{_ENTRIES}?kind=change,expense&format=csv&limit=1", status=200)
    assert "kind=change%2Cexpense" in rows.headers["link"]
    own = {"account": "receivable", "customer_id": order["customer"]["id"], "kind": "payment"}
    assert [one["amount"] for one in await _entries(books, **own)] == [20]
    [sale] = await _entries(books, source_id=order["id"], kind="sale")
    assert sale["amount"] == 60


async def test_a_kind_that_no_entry_has_is_refused(open_books: Open) -> None:
    """With the kind that was meant: an empty list would say that there were none."""
    books = await open_books()
    for kind in ("refnd", "sale,refnd"):
        refused = await books.look(_ENTRIES, {"kind": kind}, status=422)
        [fault] = refused.json["details"]
        assert fault["field"].startswith("kind")
        assert "refund" in fault["message"]


async def test_another_books_entries_are_not_there(open_books: Open) -> None:
    """Neither by the list nor by the id of a source."""
    books, others = await open_books(), await open_books()
    order = await _sold(books)
    assert await _entries(others) == []
    assert await _entries(others, source_id=order["id"]) == []
    refused = await books.look(_ENTRIES, {"customer_id": order["id"]}, status=422)
    assert [one["field"] for one in refused.json["details"]] == ["account"]


_KEPT = "SELECT sum(debits) FROM ledger_sums WHERE book_id = $1 AND period = 'day'"
