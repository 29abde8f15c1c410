"""Quotes: the cost of a stay, by each way in which its room is sold."""

from datetime import date, timedelta

from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.hotel.quotes import rules, store
from tillhouse.hotel.quotes.types import Quote, QuoteQuery
from tillhouse.hotel.rates.rules import read_prices
from tillhouse.kit.errors import check
from tillhouse.kit.page import PageOf, meta
from tillhouse.kit.values import DayClock


async def list_page(call: Call, wanted: QuoteQuery) -> PageOf[Quote]:
    """One page of costs of the stay; availability says whether a room is free."""
    page, which = wanted.pick(), (wanted.room_type_id, wanted.rate_plan_id)
    terms = await store.count_ways(call.db, call.book.id, *which)
    today = DayClock.at_midnight(terms["time_zone"]).today(call.now)
    since = wanted.since.day if wanted.since else today
    days = since, wanted.until.day if wanted.until else since + timedelta(days=1)
    check(rules.query_errors(*days, today, page.per_page))
    rows = await store.list_ways(call.db, call.book.id, *which, page)
    quotes = [_quote(row, days, terms["currency"]) for row in rows]
    return PageOf(quotes, meta(page, terms["total"]))


def _quote(row: Record, days: tuple[date, date], currency: str) -> Quote:
    prices = read_prices(row["price"], row["weekday_prices"], row["taxes"])
    nights, taxes, total = rules.cost(*days, prices, currency)
    return Quote(
        room_type_id=row["room_type_id"],
        room_type_name=row["room_type_name"],
        capacity=row["capacity"],
        rate_plan_id=row["rate_plan_id"],
        rate_plan_name=row["rate_plan_name"],
        currency=currency,
        nights=nights,
        taxes=taxes,
        total_amount=total,
    )
