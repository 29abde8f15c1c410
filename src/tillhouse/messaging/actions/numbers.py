"""Numbers: connected, listed, disconnected."""

from datetime import datetime

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.store.businesses import find_country
from tillhouse.db.pool import Db
from tillhouse.kit.errors import FieldError, Missing, check, existing
from tillhouse.kit.ids import BookId, BookKey, NumberId, new_id
from tillhouse.kit.page import Paged, PageOf, meta
from tillhouse.kit.partial import faults
from tillhouse.messaging import credentials, rules
from tillhouse.messaging.credentials import NumberSecrets
from tillhouse.messaging.sending import messenger_of
from tillhouse.messaging.store import numbers as store
from tillhouse.messaging.types import NewNumber, NumberShown
from tillhouse.providers.messaging.sandbox import NUMBER


async def open_sandbox(db: Db, book_id: BookId, now: datetime) -> NumberId | None:
    """Give a test book the number that it writes from; None when it has one."""
    number_id = NumberId(new_id())
    what = ("sandbox", NUMBER, None)
    is_new = await store.insert_number(db, BookKey(book_id, number_id), what, None, now)
    return number_id if is_new else None


async def list_page(call: Call, wanted: Paged) -> PageOf[NumberShown]:
    """One page of the numbers of the book, the active one first."""
    page = wanted.pick()
    total = await store.count_numbers(call.db, call.book.id)
    rows = await store.list_numbers(call.db, call.book.id, page)
    return PageOf([NumberShown(**row) for row in rows], meta(page, total))


async def connect(call: Call, new: NewNumber) -> NumberShown:
    """Write from this number from now on."""
    country = await find_country(call.db, call.business_id)
    check(_faults(call, new, country))
    if messenger_of(call.services, new.provider).own_number is not None:
        number_id = await open_sandbox(call.db, call.book.id, call.now)
    else:
        number_id = await _open_whatsapp(call, new, country)
    if number_id is None:
        raise rules.NumberConnected
    number = await show(call, number_id)
    await _note(call, "connected", number)
    return number


async def _open_whatsapp(call: Call, new: NewNumber, country: str) -> NumberId | None:
    assert new.phone_number is not None, "the rules have seen to it"  # noqa: S101
    number_id = NumberId(new_id())
    secrets = NumberSecrets(str(new.access_token), str(new.app_secret), str(new.verify_token))
    sealed = await credentials.seal(
        call.services.vault, call.db, call.business_id, number_id, secrets
    )
    key = BookKey(call.book.id, number_id)
    what = ("whatsapp", new.phone_number.e164(country), new.provider_number_id)
    is_new = await store.insert_number(call.db, key, what, sealed, call.now)
    return number_id if is_new else None


async def number_faults(call: Call, new: NewNumber) -> list[FieldError]:
    """The faults of the number."""
    return _faults(call, new, await find_country(call.db, call.business_id))


def _faults(call: Call, new: NewNumber, country: str) -> list[FieldError]:
    return faults(
        lambda: rules.provider_errors(new, call.book.environment),
        *(lambda name=name: rules.number_errors(new, name) for name in rules.OF_WHATSAPP),
        lambda: rules.phone_errors("phone_number", new.phone_number, country),
    )


async def show(call: Call, number_id: NumberId) -> NumberShown:
    """One number."""
    return NumberShown(**existing(await store.show_number(call.db, call.book.id, number_id)))


async def disconnect(call: Call, number_id: NumberId) -> NumberShown:
    """Write from this number no more, and forget its secrets."""
    if not await store.end_number(call.db, call.book.id, number_id, call.now):
        raise Missing
    number = await show(call, number_id)
    await _note(call, "disconnected", number)
    return number


async def _note(call: Call, verb: str, number: NumberShown) -> None:
    what = (f"messaging_number.{verb}", f"Messaging number {number.phone_number}: {verb}")
    metadata = {
        "messagingNumberId": str(number.id),
        "provider": number.provider,
        "environment": call.book.environment,
    }
    await audit.note(call, what, metadata)
