"""The summary and the transactions of a small and of a large book: `finance`."""

import argparse
import math
from pathlib import Path
from typing import Any

from rich.console import Console

from bench import world
from bench.lists import SMALL, Client, Timing, open_book, report

SUMMARY, TRANSACTIONS = "/v1/finance/summary", "/v1/finance/transactions"
ACCOUNTS, ENTRIES = "/v1/ledger/accounts", "/v1/ledger/entries"
_USUAL_MS_MAX, _FILTER_MS_MAX = 25.0, 200.0
_USUAL = ("today", "a month", "the newest 50", "trial balance", "the newest entries")


def measure(options: argparse.Namespace) -> None:
    """Measure both books one after the other, and print a table."""
    found: dict[int, dict[str, Timing]] = {}
    for rows in sorted({SMALL, options.rows or SMALL}):
        with (
            open_book(Path(options.books), rows) as book,
            world.server("tillhouse", book.url, **book.settings) as port,
        ):
            client = Client(port, book.token)
            found[rows] = {
                name: client.time(path, query) for name, (path, query) in _queries(client).items()
            }
    report(Console(width=140), found, _most)


def _most(name: str) -> float:
    """The bar of a query."""
    return _USUAL_MS_MAX if name in _USUAL else _FILTER_MS_MAX


def _queries(client: Client) -> dict[str, tuple[str, dict[str, Any]]]:
    """Queries by name; their values are taken from transactions of the book."""
    first = client.get(f"{TRANSACTIONS}?limit=100")
    pages = math.ceil(first["meta"]["total"] / 50)
    named = next(one for one in first["data"] if one["customer"])
    store = next(one["storeId"] for one in first["data"] if one["storeId"])
    year = int(first["data"][0]["date"][:4])
    month = {"from": f"{year - 1}-03-01", "to": f"{year - 1}-03-31"}
    summaries: dict[str, dict[str, Any]] = {
        "today": {}, "a month": month, "a day of last year": {"date": f"{year - 1}-03-05"},
        "a year": {"from": f"{year - 1}-01-01", "to": f"{year - 1}-12-31"},
        "a year of a store": {
            "from": f"{year - 1}-01-01", "to": f"{year - 1}-12-31", "store_id": store,
        },
    }  # fmt: skip
    lists: dict[str, dict[str, Any]] = {
        "the newest 50": {}, "sales": {"type": "sale"}, "refunds": {"type": "refund"},
        "debts paid in cash": {"type": "debt_payment", "method": "cash"},
        "failed": {"status": "failed"}, "by pos": {"method": "pos"},
        "of a store": {"store_id": store},
        "a month, listed": month, "a month by pos, listed": {**month, "method": "pos"},
        "of a customer": {"customer_id": named["customerId"]},
        "by name": {"search": named["customer"]},
        "by first name": {"search": named["customer"].split()[0]},
        "by reference": {"search": named["reference"]},
        "middle page": {"page": max(1, pages // 2)}, "last page": {"page": pages},
        "middle page of sales": {"type": "sale", "page": max(1, pages // 3)},
        "rare pair, deep": {"type": "debt_payment", "method": "other", "page": 2},
    }  # fmt: skip
    books: dict[str, tuple[str, dict[str, Any]]] = {
        "trial balance": (ACCOUNTS, {}),
        "trial balance of a day": (ACCOUNTS, {"date": f"{year - 1}-03-05"}),
        "the newest entries": (ENTRIES, {}),
        "entries of cash": (ENTRIES, {"account": "cash"}),
        "entries of refunds": (ENTRIES, {"kind": "refund"}),
        "a page of a table": (ENTRIES, {"format": "csv", "to": f"{year - 1}-03-05"}),
    }
    return {
        **books,
        **{name: (SUMMARY, query) for name, query in summaries.items()},
        **{name: (TRANSACTIONS, query) for name, query in lists.items()},
    }
