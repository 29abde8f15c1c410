"""Lists of orders, with the figures beside them."""

from decimal import Decimal
from uuid import UUID

from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.access.store.businesses import find_time_zone
from tillhouse.customers.rules import word_query
from tillhouse.kit.money import round_money
from tillhouse.kit.page import Page, meta
from tillhouse.orders.store import listing as store
from tillhouse.orders.store.listing import OrderQuery
from tillhouse.orders.types import Order, OrderFilter, OrderPage, Summary


async def list_page(call: Call, wanted: OrderFilter) -> OrderPage:
    """One page of the orders that fit, and the figures of all that do."""
    query = await _query(call, wanted)
    row = await _figures(call, query)
    summary = _summary(row)
    page = Page(wanted.page, wanted.limit)
    total = summary.filtered_orders
    orders = await _orders(call, wanted, query, page, total)
    return OrderPage(orders, meta(page, total), summary)


async def _orders(
    call: Call, wanted: OrderFilter, query: OrderQuery, page: Page, total: int
) -> list[Order]:
    left = total - page.offset
    if left <= 0:
        return []
    if wanted.scheduled_only:
        return await store.list_scheduled(call.db, call.book.id, query, page)
    if page.offset <= total // 2:
        return await store.list_newest(call.db, call.book.id, query, page)
    # Nearer to the end, it is counted from there.
    limit = min(page.per_page, left)
    return await store.list_oldest(call.db, call.book.id, query, limit, left - limit)


async def _figures(call: Call, query: OrderQuery) -> Record:
    if not query.is_tallied:
        found = await store.find_figures_of_few(call.db, call.book.id, query, call.now)
    elif query.is_dated:
        found = await store.find_figures_between(call.db, call.book.id, query, call.now)
    else:
        found = await store.find_figures(call.db, call.book.id, query, call.now)
    assert found is not None, "sums of nothing are a row too"  # noqa: S101
    return found


async def _query(call: Call, wanted: OrderFilter) -> OrderQuery:
    since = until = None
    if wanted.start_date or wanted.end_date:
        zone = await find_time_zone(call.db, call.business_id)
        since = wanted.start_date.starts_at(zone) if wanted.start_date else None
        until = wanted.end_date.ends_at(zone) if wanted.end_date else None
    status: list[str] | None = list(wanted.status) if wanted.status else None
    if wanted.scheduled_only:
        status = [one for one in status or ["scheduled"] if one == "scheduled"]
    return OrderQuery(
        status=status,
        payment_status=list(wanted.payment_status) if wanted.payment_status else None,
        channel=list(wanted.channel) if wanted.channel else None,
        service_mode=list(wanted.service_mode) if wanted.service_mode else None,
        payment_method=wanted.payment_method,
        store_id=wanted.store_id,
        store_ids=wanted.store_ids,
        is_automated=wanted.is_automated,
        is_fulfilled=wanted.channel_fulfilled,
        customer_id=wanted.customer_id,
        recorded_by_id=wanted.recorded_by_id,
        staff_id=wanted.staff_id,
        served_by_id=wanted.served_by_user_id,
        session_id=wanted.table_session_id,
        term_id=wanted.academic_term_id,
        tag_ids=wanted.tag_ids,
        ids=await _found(call, wanted.search),
        since=since,
        until=until,
    )


async def _found(call: Call, search: str | None) -> list[UUID] | None:
    """What a search means, looked up once for the page and for the figures."""
    if search is None:
        return None
    # Of what can't be a code, a text that no code begins with.
    code = search.strip().upper() or "?"
    return await store.list_found(call.db, call.book.id, code, word_query(search) or None)


def _summary(row: Record) -> Summary:
    orders = row["revenue_orders"]
    average = Decimal(0)
    if orders:
        average = round_money(row["total_revenue"] / orders, row["currency"])
    names = [name for name in Summary.__struct_fields__ if name != "average_order_value"]
    return Summary(**{name: row[name] for name in names}, average_order_value=average)
