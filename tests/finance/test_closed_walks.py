"""Random walks beside a closed period: whatever happens, its figures stand."""

from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.finance.books import Body, Books
from tests.finance.conftest import Open
from tests.finance.walker import Walker, fold_all
from tests.orders.shop import ORDERS, exact
from tillhouse.access.process import Services

_STEPS, _AFTER = 60, 90
# Figures of now, and those of orders that follow what became of a sale after its day.
_OF_NOW = ("pending", "credits")


async def _stands(books: Books, days: list[date]) -> list[Any]:
    """The figures of closed days: each alone, all of them, their sales, and the balances then."""
    found: list[Any] = []
    for first, last in [*zip(days, days, strict=True), (days[0], days[-1])]:
        query = {"from": first.isoformat(), "to": last.isoformat()}
        summary: Body = exact(await books.look("/v1/finance/summary", query))
        found.append({k: v for k, v in summary.items() if not k.startswith(_OF_NOW)})
        found.append(exact(await books.look("/v1/ledger/accounts", {"date": last.isoformat()})))
        query = {"start_date": first.isoformat(), "end_date": last.isoformat()}
        answer = await books.shop.api.get(f"{ORDERS}?{urlencode(query)}", status=200)
        found.append(answer.json["summary"]["totalRevenue"])
    return found


@pytest.mark.parametrize("seed", [3, pytest.param(4, marks=pytest.mark.proof)])
async def test_a_closed_period_stands_whatever_comes(
    open_books: Open, services: Services, seed: int
) -> None:
    """Sales, stays, late money of providers, payouts, refunds and expenses of any day."""
    books = await open_books(time_zone="Africa/Lagos", currency="NGN")
    walker = Walker(books, services, seed)
    await walker.prepare()
    for _ in range(_STEPS):
        await walker.step()
    today = date.fromisoformat((await books.summary())["date"])
    days = [today - timedelta(days=ago) for ago in (4, 3, 2)]
    api = await books.shop.business.client("finance:closings:write")
    await api.put("/v1/ledger/closing", {"closed_until": days[-1].isoformat()}, status=200)
    before = await _stands(books, days)
    for number in range(_AFTER):
        await walker.step()
        if number % 15 == 14:
            assert await _stands(books, days) == before
            await fold_all(services)
    assert await _stands(books, days) == before
