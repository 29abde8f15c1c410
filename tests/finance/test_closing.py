"""A closed period changes no more: refused with a sentence, or booked today; the owner reopens."""

import asyncio
from datetime import date, timedelta

import asyncpg

from tests.api import Response
from tests.finance.books import Body, Books
from tests.finance.conftest import Open
from tests.orders.shop import ORDERS, at_noon, fee

_CLOSING = "/v1/ledger/closing"
_THEN, _DAY = "2026-01-05T10:00:00Z", "2026-01-05"
_WHEN = {"scheduled_for": "2100-01-01T00:00:00Z"}
_LATER = {"status": "scheduled", **_WHEN}


async def _close(books: Books, day: str | None, status: int = 200) -> Response:
    api = await books.shop.business.client("finance:closings:write")
    return await api.put(_CLOSING, {"closed_until": day}, status=status)


def _refused(answer: Response, code: str = "request_failed") -> None:
    assert (answer.status, answer.json["error"]) == (400, code), answer
    assert f"books are closed up to 2026-01-31, and this is of {_DAY}" in answer.json["message"]
    assert "without its date" in answer.json["message"]


async def _of_the_day(books: Books) -> Body:
    summary = await books.summary(date=_DAY)
    return {name: value for name, value in summary.items() if not name.startswith("pending")}


async def test_a_closed_period_changes_no_more(open_books: Open) -> None:
    """No sale, cancellation, deletion, correction, payment or expense is dated within it."""
    books = await open_books(time_zone="Africa/Lagos", currency="NGN")
    shop = books.shop
    order = await books.sell(100, occurred_at=_THEN)
    path = f"{ORDERS}/{order['id']}"
    spent = await books.spend(7, occurred_at=_THEN)
    before = await books.summary(date=_DAY)
    assert (await _close(books, "2026-01-31")).data == {"closedUntil": "2026-01-31"}
    assert (await books.look(_CLOSING, {})).data == {"closedUntil": "2026-01-31"}
    _refused(await shop.ask(fee(5), occurred_at=_THEN), "order_not_recorded")
    _refused(await shop.api.patch(path, {"status": "cancelled"}))
    _refused(await shop.api.patch(path, {"total_amount": 90}))
    _refused(await shop.api.delete(path))
    _refused(await shop.api.post(f"{path}/payments", {"amount": 1, "method": "cash", "at": _THEN}))
    _refused(await books.api.post("/v1/finance/expenses", {
        "amount": 1, "category": "Fuel", "occurred_at": _THEN,
    }))  # fmt: skip
    _refused(await books.api.delete(f"/v1/finance/expenses/{spent['id']}"))
    assert await books.summary(date=_DAY) == before
    await shop.sell(fee(5), occurred_at="2026-02-01T12:00:00Z")


async def test_a_cancelled_sale_of_a_closed_period_stays(open_books: Open) -> None:
    """It is neither deleted nor scheduled nor sold: the orders of its day count it."""
    books = await open_books(time_zone="Africa/Lagos", currency="NGN")
    api = books.shop.api
    order = await books.sell(100, occurred_at=_THEN)
    path = f"{ORDERS}/{order['id']}"
    await api.patch(path, {"status": "cancelled"}, status=200)

    async def counted() -> Body:
        query = f"?start_date={_DAY}&end_date={_DAY}"
        return (await api.get(ORDERS + query, status=200)).json["summary"]

    await _close(books, "2026-01-31")
    before = await counted()
    _refused(await api.patch(path, _LATER))
    _refused(await api.patch(path, {"status": "pending"}))
    _refused(await api.delete(path))
    assert await counted() == before
    reason = {"status": "cancelled", "cancellation_reason": "no stock"}
    await api.patch(path, reason, status=200)
    same = await api.patch(path, {"amount_paid": 0}, status=200)
    assert same.data["status"] == "cancelled"


async def test_what_was_never_sold_is_free(open_books: Open) -> None:
    """Scheduled orders whose day is closed: cancelled, scheduled again and deleted; not sold."""
    books = await open_books(time_zone="Africa/Lagos", currency="NGN")
    api = books.shop.api
    orders = [await books.sell(40, amount_paid=0, **_WHEN) for _ in range(2)]
    await books.shop.sql.execute(
        "UPDATE orders SET occurred_at = $1::text::timestamptz WHERE book_id = $2",
        _THEN, books.shop.book,
    )  # fmt: skip
    await _close(books, "2026-01-31")
    path, other = (f"{ORDERS}/{order['id']}" for order in orders)
    await api.patch(path, {"status": "cancelled"}, status=200)
    _refused(await api.patch(path, {"status": "pending"}))
    await api.patch(path, _LATER, status=200)
    await api.patch(path, {"status": "cancelled"}, status=200)
    await api.delete(path, status=200)
    await api.delete(other, status=200)


async def test_money_that_moves_today_is_booked_today(open_books: Open) -> None:
    """A refund of a closed sale, notes on it, and a scheduled order whose day is closed."""
    books = await open_books(time_zone=at_noon(), currency="NGN")
    order = await books.sell(100, occurred_at=_THEN)
    scheduled = await books.sell(40, amount_paid=0, scheduled_for="2100-01-01T00:00:00Z")
    await books.shop.sql.execute(
        "UPDATE orders SET occurred_at = $1::text::timestamptz WHERE short_code = $2",
        _THEN, scheduled["shortCode"],
    )  # fmt: skip
    await _close(books, "2026-01-31")
    before = await _of_the_day(books)
    body: Body = {"amount": 100, "method": "cash"}
    refunded = await books.shop.api.post(f"{ORDERS}/{order['id']}/refunds", body, status=201)
    assert refunded.data["status"] == "refunded"
    await books.shop.confirm(scheduled)
    assert await _of_the_day(books) == before
    today = await books.summary()
    assert (today["salesTotal"], today["refundsTotal"]) == (40, 100)


async def test_the_owner_alone_reopens(open_books: Open) -> None:
    """A key closes and closes more, and opens nothing; today can't be closed."""
    books = await open_books(time_zone=at_noon())
    await _close(books, "2026-01-31")
    closed = await _close(books, "2026-02-28")
    assert (closed.data, closed.json["message"]) == ({"closedUntil": "2026-02-28"}, "Books closed")
    for day in ("2026-01-31", None):
        assert "owner" in (await _close(books, day, status=403)).json["message"]
    refused = await _close(books, "2100-01-01", status=422)
    assert refused.json["details"][0]["field"] == "closed_until"
    owner = books.shop.business.owner
    headers = {"service-environment": "test"}
    opened = await owner.put(_CLOSING, {"closed_until": None}, headers=headers, status=200)
    assert (opened.data, opened.json["message"]) == ({"closedUntil": None}, "Books opened")
    await books.sell(5, occurred_at=_THEN)


async def test_a_day_that_goes_on_is_not_closed(open_books: Open) -> None:
    """Today may still be sold on; yesterday is over."""
    books = await open_books(time_zone=at_noon())
    today = date.fromisoformat((await books.summary())["date"])
    refused = await _close(books, today.isoformat(), 422)
    assert refused.wrong_fields == {"closed_until"}
    yesterday = (today - timedelta(days=1)).isoformat()
    assert (await _close(books, yesterday)).data == {"closedUntil": yesterday}


async def test_a_closing_waits_for_changes_under_way(
    open_books: Open, sql: asyncpg.Connection
) -> None:
    """Cancellations and a closing at once: what was cancelled, was so before the closing."""
    books = await open_books(time_zone=at_noon())
    orders = [await books.sell(10, occurred_at=_THEN) for _ in range(8)]

    async def cancel(order: Body) -> int:
        path = f"{ORDERS}/{order['id']}"
        return (await books.shop.api.patch(path, {"status": "cancelled"})).status

    async def close_and_look() -> float:
        await _close(books, "2026-01-31")
        return (await books.summary(date=_DAY))["salesTotal"]

    tasks = [*map(cancel, orders[:4]), close_and_look(), *map(cancel, orders[4:])]
    found = await asyncio.gather(*tasks)
    kept = (await books.summary(date=_DAY))["salesTotal"]
    assert found[4] == kept == 80 - 10 * found.count(200)
    assert {200, 400} >= {int(one) for number, one in enumerate(found) if number != 4}
    closed = await sql.fetchval("SELECT closed_until FROM books WHERE id = $1", books.shop.book)
    assert closed is not None
