"""The audit log, read."""

from tillhouse.access.call import Call
from tillhouse.developer.store import events as store
from tillhouse.developer.store.keys import find_business
from tillhouse.developer.types import AuditEvent, EventFilter
from tillhouse.kit.page import Page, PageOf, meta


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
