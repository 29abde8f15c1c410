"""Transactions: every filter and every page says what a look at all of them says."""

import random
from typing import Any

import asyncpg
import pytest

from tests.finance.books import TRANSACTIONS, Body, Books
from tests.finance.conftest import Open
from tillhouse.access.process import Services
from tillhouse.jobs.chores import fold
from tillhouse.ledger.store.sums import TRANSACTION_TALLIES

_DAYS = ("2026-01-05", "2026-01-06", "2026-02-11", "2026-03-29")


async def _many(books: Books) -> None:
    """Sales on some days, of some kinds, some paid later or corrected; and expenses."""
    chance = random.Random(3)  # noqa: S311 - any walk will do, but always the same
    store = await books.shop.store(name="Yaba")
    ada = await books.shop.customer("Ada Okafor", email="ada@example.com")
    for _ in range(40):
        fields: Body = {
            "occurred_at": f"{chance.choice(_DAYS)}T{chance.randrange(24):02}:30:00Z",
            "payment_method": chance.choice(["cash", "pos", "transfer"]),
            "store_id": chance.choice([store["id"], None]),
        }
        if chance.random() < 0.3:
            fields["customer_id"] = ada["id"]
        order = await books.sell(chance.randint(1, 90), **fields)
        if chance.random() < 0.2:
            path = f"/v1/orders/{order['id']}"
            await books.shop.api.patch(path, {"amount_paid": 0.5}, status=200)
    for _ in range(6):
        spent = f"{chance.choice(_DAYS)}T12:00:00Z"
        await books.spend(chance.randint(1, 9), occurred_at=spent, store_id=store["id"])


def _fits(one: Body, query: Body) -> bool:
    day = one["fullDate"][:10]
    return (
        all(one[name] in query[name].split(",") for name in ("type", "method") if name in query)
        and ("store_id" not in query or one["storeId"] == query["store_id"])
        and ("customer_id" not in query or one["customerId"] == query["customer_id"])
        and query.get("since", "0") <= day <= query.get("until", "9")
    )


async def test_filters_and_pages_are_those_of_a_look_at_all(
    open_books: Open, services: Services
) -> None:
    """Before the tallies are folded, and after: kinds, days, stores, customers, together."""
    books = await open_books(time_zone="UTC")
    await _many(books)
    everything = await books.all()
    assert everything == sorted(
        everything, key=lambda one: (one["fullDate"], one["id"]), reverse=True
    )
    store = next(one["storeId"] for one in everything if one["storeId"])
    customer = next(one["customerId"] for one in everything if one["customerId"])
    queries: list[Body] = [
        {"type": "sale"}, {"type": "expense,adjustment"}, {"method": "pos"}, {"store_id": store},
        {"since": _DAYS[1]}, {"until": _DAYS[1]}, {"since": _DAYS[1], "until": _DAYS[2]},
        {"customer_id": customer}, {"customer_id": customer, "method": "cash"},
        {"type": "sale", "method": "cash,pos", "store_id": store, "since": _DAYS[2]},
        {"type": "wallet_deposit"},
    ]  # fmt: skip
    for _ in range(2):
        for query in queries:
            wanted = [one for one in everything if _fits(one, query)]
            assert await books.all(**query) == wanted
        await fold(services.pool, TRANSACTION_TALLIES)


async def test_pages_on_both_sides_of_a_hundred_are_one_list(open_books: Open) -> None:
    """The first hundred are read by another statement than what follows."""
    books = await open_books()
    for amount in range(1, 104):
        await books.spend(amount)
    for limit in (100, 51, 50, 34):
        pages = [await books.page(limit=limit, page=number) for number in range(1, 5)]
        amounts = [one["amount"] for page in pages for one in page.data]
        assert amounts == list(range(103, 0, -1)), limit


async def test_tallies_say_what_a_count_says(
    open_books: Open, services: Services, sql: asyncpg.Connection
) -> None:
    """Transactions by kind and day, debts by status, credit of customers: kept, not counted."""
    books = await open_books()
    await _many(books)
    customer = await books.shop.customer("Bola")
    debt = await books.sell(100, amount_paid=30, customer_id=customer["id"])
    await books.sell(50, amount_paid=80, customer_id=customer["id"], payment_method="transfer")
    voided = await books.spend(4)
    await books.api.delete(f"/v1/finance/expenses/{voided['id']}", status=200)
    for paid in (40, 60):
        path = f"/v1/orders/{debt['id']}"
        await books.shop.api.patch(path, {"amount_paid": paid}, status=200)
    for _ in range(2):
        kinds = await sql.fetch(_KINDS, books.shop.book)
        assert kinds == await sql.fetch(_COUNTED, books.shop.book)
        await fold(services.pool, TRANSACTION_TALLIES)
    owed = await sql.fetch(_OWED, books.shop.book)
    assert owed
    assert all(row["kept"] == row["counted"] for row in owed)
    assert await sql.fetchval(_CREDIT, books.shop.book) == 30
    summary = await books.summary()
    active = next(row["kept"] for row in owed if row["status"] == "active")
    assert (summary["pendingDebtTotal"], summary["creditsTotal"]) == (active, 30)
    assert active >= 40


_KINDS = """
    SELECT day, type, status, method, store_id, sum(transactions) AS count, sum(amount) AS amount
    FROM (
        SELECT day, type, status, method, store_id, transactions, amount
        FROM transaction_tallies WHERE book_id = $1
        UNION ALL
        SELECT d.day, type, status, method, store_id, transactions, amount
        FROM transaction_tally_changes c, LATERAL (VALUES (c.day), (NULL)) AS d (day)
        WHERE book_id = $1
    ) t
    GROUP BY 1, 2, 3, 4, 5 HAVING sum(transactions) <> 0 ORDER BY 1, 2, 3, 4, 5
"""
_COUNTED = """
    SELECT d.day, type::text, status::text, method::text, store_id, count(*)::numeric AS count,
        sum(amount) AS amount
    FROM transactions,
        LATERAL (VALUES ((happened_at AT TIME ZONE 'UTC')::date), (NULL)) AS d (day)
    WHERE book_id = $1 GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
"""
_OWED = """
    SELECT status, sum(balance) AS kept, (SELECT coalesce(sum(d.balance), 0) FROM debts d
        WHERE d.book_id = t.book_id AND d.status = t.status) AS counted
    FROM debt_tallies t WHERE book_id = $1 GROUP BY book_id, status
"""
_CREDIT = "SELECT sum(credit) FROM customer_credit_tallies WHERE book_id = $1"


async def test_a_search_finds_names_codes_and_references(open_books: Open) -> None:
    """The beginning of each, in any case; what all references begin with finds nothing."""
    books = await open_books()
    chidi = await books.shop.customer("Chidi Eze")
    order = await books.sell(70, customer_id=chidi["id"])
    await books.sell(80)
    (sale,) = await books.all(search="chi")
    assert (sale["orderId"], sale["customer"]) == (order["id"], "Chidi Eze")
    assert await books.all(search=order["shortCode"][:5].lower()) == [sale]
    assert await books.all(search=sale["reference"][:9].lower()) == [sale]
    assert await books.all(search=sale["reference"], customer_id=chidi["id"]) == [sale]
    for nothing in ("TXN-", "%", "nobody", "'; --"):
        assert await books.all(search=nothing) == []


async def test_the_customer_rule(open_books: Open) -> None:
    """An id alone, or address and number of one person; nobody's give an empty list."""
    books = await open_books(country="NG")
    ada = await books.shop.customer("Ada", email="ada@example.com", phone_number="+2348030000001")
    await books.shop.customer("Obi", phone_number="+2348030000002")
    await books.sell(70, customer_id=ada["id"])
    found = await books.all(customer_email="ADA@example.com", customer_phone="0803 000 0001")
    assert [one["customerEmail"] for one in found] == ["ada@example.com"]
    assert await books.all(customer_email="ada@example.com", customer_phone="+2348030000002") == []
    assert await books.all(customer_email="nobody@example.com") == []
    both = {"customer_id": ada["id"], "customer_email": "ada@example.com"}
    refused = await books.look(TRANSACTIONS, both, status=422)
    assert refused.json["details"][0]["field"] == "customer_id"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"type": "gift"}, "type"),
        ({"status": ""}, "status"),
        ({"from": "yesterday"}, "from"),
        ({"limit": 101}, "limit"),
        ({"store_id": "1"}, "store_id"),
        ({"sort": "amount"}, "sort"),
    ],
)
async def test_wrong_filters_are_named(open_books: Open, query: Any, field: str) -> None:
    """Each by its name on the wire."""
    books = await open_books()
    refused = await books.look(TRANSACTIONS, query, status=422)
    assert [one["field"] for one in refused.json["details"]] == [field]


async def test_asking_again_changes_nothing_without_a_provider(open_books: Open) -> None:
    """The transaction as it is, and that nothing changed."""
    books = await open_books()
    await books.sell(70)
    (sale,) = await books.all()
    answer = await books.api.post(f"{TRANSACTIONS}/{sale['id']}/requery", status=200)
    assert answer.data == sale
    assert answer.json["meta"] == {"changed": False, "previousStatus": "successful"}


async def test_payments_by_card_are_found_by_that_word(open_books: Open) -> None:
    """They are kept as `pos`; an expense by card is kept as that."""
    books = await open_books()
    await books.sell(100, payment_method="card")
    await books.sell(30)
    await books.spend(7, method="card")
    for asked, found in (
        ("card", ["card", "pos"]),
        ("pos", ["pos"]),
        ("card,pos", ["card", "pos"]),
    ):
        page = await books.page(method=asked)
        assert sorted(one["method"] for one in page.data) == found
        assert len(await books.all(method=asked)) == len(found)
