"""Service requests: list, show, make and change."""

from uuid import UUID

import msgspec
from msgspec import UNSET

from tillhouse.access.call import Call
from tillhouse.hotel.events import HOTEL_SERVICE_REQUEST_CREATED, ServiceRequestData
from tillhouse.hotel.requests import rules, store
from tillhouse.hotel.requests.store import REQUESTS
from tillhouse.hotel.requests.types import (
    NewServiceRequest,
    ServiceRequest,
    ServiceRequestFilter,
    ServiceRequestPatch,
)
from tillhouse.kit.errors import FieldError, check, existing
from tillhouse.kit.ids import BookKey, UserId, new_id
from tillhouse.kit.page import PageOf
from tillhouse.kit.partial import facts_of, given, merged
from tillhouse.stores.store import show_staff
from tillhouse.webhooks.emit import emit


async def list_page(call: Call, wanted: ServiceRequestFilter) -> PageOf[ServiceRequest]:
    """One page of the service requests that fit, the newest first."""
    narrowed = {name: getattr(wanted, name) for name in REQUESTS.filters}
    return await REQUESTS.page(call.db, call.book.id, wanted.pick(), **narrowed)


async def show(call: Call, service_request_id: UUID) -> ServiceRequest:
    """One service request."""
    return existing(await REQUESTS.show(call.db, call.book.id, service_request_id))


async def create(call: Call, new: NewServiceRequest) -> ServiceRequest:
    """Note the wish of a guest, and tell of it."""
    facts = await _facts(call, new)
    check(rules.new_faults(new, facts))
    subject = msgspec.structs.astuple(rules.subject_of(new, facts))
    key, state = BookKey(call.book.id, new_id()), ("open", None, new.description)
    await REQUESTS.insert(call.db, key, state, call.now, new.category, new.source, *subject)
    made = await show(call, key.id)
    await emit(call, HOTEL_SERVICE_REQUEST_CREATED, facts_of(ServiceRequestData, made))
    return made


async def new_faults(call: Call, new: NewServiceRequest) -> list[FieldError]:
    """The faults of a new service request."""
    return rules.new_faults(new, await _facts(call, new))


async def change(
    call: Call, service_request_id: UUID, patch: ServiceRequestPatch
) -> ServiceRequest:
    """Change the fields that the patch names; of two changes at once the second sees the first."""
    before = existing(await REQUESTS.lock(call.db, call.book.id, service_request_id))
    check(await _assignee_faults(call, patch))
    old = facts_of(rules.RequestFacts, before)
    facts = merged(old, patch)
    if facts == old:
        return before
    rules.check_change(old, facts)
    await store.update_request(call.db, BookKey(call.book.id, service_request_id), facts, call.now)
    return await show(call, service_request_id)


async def patch_faults(
    call: Call, service_request_id: UUID, patch: ServiceRequestPatch
) -> list[FieldError]:
    """The faults of a change of a service request, if there is one."""
    await show(call, service_request_id)
    return await _assignee_faults(call, patch)


async def _assignee_faults(call: Call, patch: ServiceRequestPatch) -> list[FieldError]:
    assignee_id = given(patch, "assignee_id")
    if assignee_id is UNSET or assignee_id is None:
        return []
    found = await show_staff(call.db, call.business_id, UserId(assignee_id))
    return [] if found else [rules.UNKNOWN_ASSIGNEE]


async def _facts(call: Call, new: NewServiceRequest) -> rules.NamedFacts:
    named = (given(new, name) for name in ("reservation_id", "room_id", "guest_id"))
    return await store.find_named(call.db, call.book.id, *named)
