"""News of a closed period is booked today: the figures of the period stand."""

import asyncpg

from tests.finance.books import Body, Books
from tests.finance.conftest import Open
from tests.folios.lodge import STAYS, Lodge, day
from tests.make import Business
from tests.orders.deposits.depositing import Depositing
from tests.orders.shop import ORDERS, Shop, at_noon, fee
from tillhouse.access.process import Services

_CLOSING = "/v1/ledger/closing"
_THEN, _DAY = "2026-01-05T10:00:00Z", "2026-01-05"


async def _close(business: Business, until: str) -> None:
    api = await business.client("finance:closings:write")
    await api.put(_CLOSING, {"closed_until": until}, status=200)


async def _told_of(books: Books, first: str, last: str) -> tuple[Body, Body]:
    """The figures of closed days, and the balances at their end."""
    summary = (await books.look("/v1/finance/summary", {"from": first, "to": last})).data
    balances = (await books.look("/v1/ledger/accounts", {"date": last})).data
    names = ("pending", "credits")
    return {k: v for k, v in summary.items() if not k.startswith(names)}, balances


async def test_a_providers_late_payment_is_booked_today(
    open_books: Open, services: Services, sql: asyncpg.Connection
) -> None:
    """The payment keeps the moment at which it was paid; the books say when they took it."""
    books = await open_books(time_zone=at_noon(), currency="NGN")
    shop = books.shop
    till = Depositing(shop.business, shop.api, sql, shop.book)
    till.services = services
    order = await till.deposit(1000)
    await _close(shop.business, "2026-01-31")
    before = await _told_of(books, _DAY, _DAY)
    await till.arrive(order)
    moved = "UPDATE sandbox_payments SET paid_at = $2::text::timestamptz WHERE book_id = $1"
    await sql.execute(moved, shop.book, _THEN)
    await till.work()
    paid = await till.show(order)
    assert (paid["paymentStatus"], paid["payments"][0]["at"]) == (
        "paid",
        "2026-01-05T10:00:00.000Z",
    )
    assert await _told_of(books, _DAY, _DAY) == before
    assert {"method": "cloove_pay", "amount": 1000} in (await books.summary())["receivedByMethod"]
    assert await till.faults(services) == []


async def test_a_night_of_a_closed_day_is_charged_today(
    business: Business, sql: asyncpg.Connection
) -> None:
    """Caught up with late, it is a sale of now, whose name tells the night."""
    lodge = await Lodge.begin(business, sql)
    books = await _books(lodge)
    stay = await lodge.arrive(1)
    await lodge.shift(stay, 3)
    await _close(business, day(-1))
    before = await _told_of(books, day(-4), day(-1))
    folio = await lodge.leave(stay, leave_as_debt=True)
    [charge] = folio["charges"]
    assert (charge["night"], charge["occurredAt"][:10]) == (day(-3), day(0))
    assert await _told_of(books, day(-4), day(-1)) == before
    assert await lodge.faults() == []


async def test_an_import_charged_to_a_stay_is_refused(
    business: Business, sql: asyncpg.Connection
) -> None:
    """As every other sale that is dated in a closed period."""
    lodge = await Lodge.begin(business, sql)
    stay = await lodge.arrive()
    await _close(business, day(-1))
    body: Body = {
        "items": [fee(5)], "hotel_reservation_id": stay["id"],
        "occurred_at": f"{day(-2)}T12:00:00Z",
    }  # fmt: skip
    refused = await lodge.api.post(ORDERS, body)
    assert (refused.status, refused.json["error"]) == (400, "order_not_recorded")
    assert "books are closed" in refused.json["message"]
    folio = (await lodge.api.get(f"{STAYS}/{stay['id']}/folio", status=200)).data
    assert folio["charges"] == []


async def _books(lodge: Lodge) -> Books:
    api = await lodge.business.client("finance:read")
    return Books(Shop(lodge.business, lodge.api, lodge.sql, lodge.book_id), api)
