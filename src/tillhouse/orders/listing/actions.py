"""Lists of orders, with the figures beside them."""

from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import get_args

from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.customers.rules import word_query
from tillhouse.db import changes
from tillhouse.db.where import rows_of
from tillhouse.kit.money import round_money
from tillhouse.kit.page import Page, Position, numbered_meta
from tillhouse.labels.actions import known_tags
from tillhouse.orders.listing.store import figures
from tillhouse.orders.listing.store import page as store
from tillhouse.orders.listing.store import page_windows as page_windows
from tillhouse.orders.listing.store.page_windows import PageWindows
from tillhouse.orders.listing.store.query import FILTERS, OrderQuery, Reach
from tillhouse.orders.listing.types import MethodSum, OrderPage, Summary
from tillhouse.orders.money_types import method_of
from tillhouse.orders.showing import orders_of
from tillhouse.orders.types import Order, OrderFilter, PaymentMethod
from tillhouse.stores.store import find_clock

# No scan is longer than this: else the tallies tell where the page is.
_SCAN_MAX = 10_000
# So many tagged orders are fetched by their tags and sorted.
_FEW = 2_000
_METHODS: tuple[PaymentMethod, ...] = get_args(PaymentMethod)


async def list_page(call: Call, wanted: OrderFilter) -> OrderPage:
    """One page of the orders that fit, and the figures of all that do."""
    page = wanted.pick()
    query = await _query(call, wanted)
    if wanted.updated_since:
        return await _changes(call, wanted, query)
    summary = _summary(await _figures(call, query))
    rows: Sequence[Record] = []
    if page.offset < summary.filtered_orders:
        list_rows = partial(_rows, call, wanted, query, summary)
        rows = await rows_of(list_rows, page, summary.filtered_orders)
    return OrderPage(orders_of(call, rows), numbered_meta(page, summary.filtered_orders), summary)


async def _changes(call: Call, wanted: OrderFilter, query: OrderQuery) -> OrderPage:
    """One page of changed orders, and the figures of all that fit, whenever they changed.

    No tally knows when an order changed: sums of that would be added up anew for each page.
    """
    beginning = await changes.begin(call.db, wanted)
    summary = _summary(await _figures(call, query.ever_changed))
    if beginning.position:
        total = beginning.position.total
    else:
        total = await store.count_changed(call.db, call.book.id, query)

    async def list_orders(position: Position | None, count: int) -> list[Order]:
        rows = await store.list_changed(call.db, call.book.id, query, position, count)
        return orders_of(call, rows)

    return OrderPage(*await changes.page_of(beginning, wanted.limit, total, list_orders), summary)


async def _rows(
    call: Call, wanted: OrderFilter, query: OrderQuery, summary: Summary, page: Page
) -> Sequence[Record]:
    if wanted.scheduled_only:
        return await store.list_scheduled(call.db, call.book.id, query, page)
    if _is_looked_up(query):
        return await store.list_found(call.db, call.book.id, query, page)
    return await _orders(call, query, page, summary)


async def _orders(call: Call, query: OrderQuery, page: Page, summary: Summary) -> Sequence[Record]:
    here = call.db, call.book.id, query, page
    if query.reaches(Reach.ORDER):
        return await (store.list_few if query.is_searched else store.list_newest)(*here)
    if _scanned(query, page, summary) <= _SCAN_MAX // 2:
        if query.has_own_order:
            return await store.list_newest(*here)
        rows = await store.list_near(*here, _SCAN_MAX)
        if len(rows) >= min(page.per_page, summary.filtered_orders - page.offset):
            return rows
    if "tag_ids" in query.asked and (query.is_searched or summary.filtered_orders <= _FEW):
        return await store.list_few(*here)
    return await store.list_within(*here, await _page_windows(call, query, page))


def _is_looked_up(query: OrderQuery) -> bool:
    """Whether a search leads the read; where few are picked out, it is one more condition."""
    return query.is_searched and not query.reaches(Reach.ORDER) and "tag_ids" not in query.asked


async def _page_windows(call: Call, query: OrderQuery, page: Page) -> PageWindows:
    here = call.db, call.book.id, query, page
    if not query.reaches(Reach.DETAIL):
        return await page_windows.list_days(*here)
    if query.reaches(Reach.TOTAL, Reach.KIND):
        return await page_windows.list_days_in_months(*here)
    return await page_windows.list_months(*here)


def _scanned(query: OrderQuery, page: Page, summary: Summary) -> int:
    """How many orders a scan passes up to a page's end, if those that fit lie evenly."""
    wanted = page.offset + page.per_page
    if query.has_own_order:
        return wanted
    return wanted * summary.total_orders // summary.filtered_orders


async def _figures(call: Call, query: OrderQuery) -> Record:
    here = call.db, call.book.id, query, call.now
    if _is_looked_up(query):
        return _there(await figures.find_figures_of_found(*here))
    if query.reaches(Reach.ORDER) or query.is_searched:
        return _there(await figures.find_figures_of_few(*here))
    if query.reaches(Reach.DETAIL) and query.is_dated:
        return _there(await figures.find_figures_in_detail_between(*here))
    if query.reaches(Reach.DETAIL):
        return _there(await figures.find_figures_in_detail(*here))
    if query.is_dated:
        return _there(await figures.find_figures_between(*here))
    return _there(await figures.find_figures(*here))


def _there(found: Record | None) -> Record:
    assert found is not None, "sums of nothing are a row too"  # noqa: S101
    return found


async def _query(call: Call, wanted: OrderFilter) -> OrderQuery:
    since = until = None
    if wanted.start_date or wanted.end_date:
        clock = await find_clock(call, wanted.store_id)
        since, until = clock.between(wanted.start_date, wanted.end_date)
    status: list[str] | None = list(wanted.status) if wanted.status else None
    if wanted.scheduled_only:
        status = [one for one in status or ["scheduled"] if one == "scheduled"]
    asked = {one.name: getattr(wanted, one.name) for one in FILTERS}
    asked["status"] = status
    asked["updated_since"] = wanted.updated_since.at if wanted.updated_since else None
    if wanted.payment_method:
        asked["payment_method"] = method_of(wanted.payment_method)
    if wanted.tag_ids:
        asked["tag_ids"] = await known_tags(call, wanted.tag_ids)
    return OrderQuery(
        asked={name: value for name, value in asked.items() if value is not None},
        code=wanted.search.upper() if wanted.search else None,
        words=word_query(wanted.search) or None if wanted.search else None,
        since=since,
        until=until,
    )


def _summary(row: Record) -> Summary:
    orders = row["revenue_orders"]
    average = Decimal(0)
    if orders:
        average = round_money(row["total_revenue"] / orders, row["currency"])
    made = ("average_order_value", "received_by_method", "net_revenue")
    names = [name for name in Summary.__struct_fields__ if name not in made]
    return Summary(
        **{name: row[name] for name in names},
        average_order_value=average,
        net_revenue=row["total_revenue"] - row["refunded_amount"],
        received_by_method=[MethodSum(method, row[method]) for method in _METHODS],
    )
