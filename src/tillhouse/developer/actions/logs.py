"""The audit log and the usage of the API, read."""

from datetime import timedelta
from typing import get_args

from tillhouse.access.call import Call
from tillhouse.developer.store import logs as store
from tillhouse.developer.store.keys import find_business
from tillhouse.developer.types import AuditEvent, BookStorage, EventFilter, UsageFilter, UsageRecord
from tillhouse.kit.page import Page, PageOf, meta
from tillhouse.kit.secrets import Environment


async def list_page(call: Call, wanted: EventFilter) -> PageOf[AuditEvent]:
    """One page of the audit log, the newest event first."""
    page = Page(wanted.page, wanted.per_page)
    query = await _query(call, wanted)
    if query.is_everything:
        total = await store.count_chain(call.db, call.business_id)
        events = await store.list_chain(
            call.db, call.business_id, total - page.offset, page.per_page
        )
    else:
        total = await store.count_events(call.db, call.business_id, query)
        events = await store.list_events(call.db, call.business_id, query, page)
    return PageOf(events, meta(page, total))


async def _query(call: Call, wanted: EventFilter) -> store.EventQuery:
    since = until = None
    if wanted.start_date or wanted.end_date:
        zone = (await find_business(call.db, call.business_id))["time_zone"]
        since = wanted.start_date.starts_at(zone) if wanted.start_date else None
        until = wanted.end_date.ends_at(zone) if wanted.end_date else None
    return store.EventQuery(
        key_id=wanted.api_key_id,
        event_type=wanted.event_type,
        entity_id=wanted.entity_id,
        since=since,
        until=until,
    )


async def show_usage(call: Call, wanted: UsageFilter) -> list[UsageRecord]:
    """Usage per day, route and class of status; the counts of this process included."""
    await call.services.usage.flush()
    since = call.now.date() - timedelta(days=wanted.days - 1)
    return await store.list_usage(call.db, call.user.books.all(), since, wanted.developer_app_id)


async def list_storage(call: Call) -> list[BookStorage]:
    """The counts of both environments, of each kind that can be limited."""
    books = call.user.books
    found: list[BookStorage] = []
    for kind in call.services.storage.kinds:
        limits = kind.limits(call.services.settings)
        held = {one.book_id: one for one in await kind.counts.list_books(call.db, books.all())}
        for environment in get_args(Environment):
            one = held.get(books.of(environment))
            found.append(
                BookStorage(
                    environment=environment,
                    kind=kind.name,
                    stored_rows=one.rows if one else 0,
                    stored_bytes=one.bytes if one else 0,
                    rows_max=limits.rows or None,
                    bytes_max=limits.bytes or None,
                )
            )
    return found
