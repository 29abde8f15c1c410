"""The suppression list: the people who are not called."""

from uuid import UUID

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.store.businesses import find_country
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Conflict, FieldError, check, existing
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.page import Deleted, PageOf, meta
from tillhouse.kit.partial import faults
from tillhouse.voice.numbers.rules import phone_faults
from tillhouse.voice.suppression import store
from tillhouse.voice.suppression.types import NewSuppression, Suppression, SuppressionFilter


class Suppressed(Conflict, message="This number is on the suppression list already."):
    """The number is suppressed already."""


async def list_page(call: Call, wanted: SuppressionFilter) -> PageOf[Suppression]:
    """One page of the list, the newest entry first."""
    phone = None
    if wanted.phone_number is not None:
        country = await find_country(call.db, call.business_id)
        check(phone_faults("phone_number", wanted.phone_number, country))
        phone = wanted.phone_number.e164(country)
    page = wanted.pick()
    total = await store.count_suppressions(call.db, call.book.id, phone)
    rows = await store.list_suppressions(call.db, call.book.id, phone, page)
    return PageOf([Suppression(**row) for row in rows], meta(page, total))


async def show(call: Call, suppression_id: UUID) -> Suppression:
    """One entry."""
    row = existing(await store.show_suppression(call.db, call.book.id, suppression_id))
    return Suppression(**row)


async def create(call: Call, new: NewSuppression) -> Suppression:
    """Call a number no more."""
    check(await new_faults(call, new))
    country = await find_country(call.db, call.business_id)
    row = store.SuppressionRow(
        phone_number=new.phone_number.e164(country),
        reason="manual",
        note=new.note or None,
        call_id=None,
        created_by_name=audit.actor(call).name,
    )
    key = BookKey(call.book.id, new_id())
    if not await store.insert_suppression(call.db, key, row, call.now):
        raise Suppressed
    await _note(call, "added", key.id, row.phone_number)
    return await show(call, key.id)


async def new_faults(call: Call, new: NewSuppression) -> list[FieldError]:
    """The faults of a new entry."""
    country = await find_country(call.db, call.business_id)
    return faults(lambda: phone_faults("phone_number", new.phone_number, country))


async def delete(call: Call, suppression_id: UUID) -> Deleted:
    """Let a number be called again."""
    phone = existing(await store.delete_suppression(call.db, BookKey(call.book.id, suppression_id)))
    await _note(call, "removed", suppression_id, phone)
    return Deleted(suppression_id, iso(call.now))


async def _note(call: Call, verb: str, suppression_id: UUID, phone: str) -> None:
    what = (f"voice_suppression.{verb}", f"Suppression of {phone}: {verb}")
    metadata = {"suppressionId": str(suppression_id), "environment": call.book.environment}
    await audit.note(call, what, metadata)
