"""The tools of agents that are about a guest's stay."""

import re
from datetime import date
from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.hotel.requests import actions as requests
from tillhouse.hotel.requests.types import NewServiceRequest
from tillhouse.hotel.reservations import actions as reservations
from tillhouse.hotel.reservations.types import Cancel, Reservation
from tillhouse.hotel.values import HotelText
from tillhouse.kit.clock import parse_date
from tillhouse.kit.errors import Refused
from tillhouse.voice.conversation import store
from tillhouse.voice.conversation.subject import CallSubject, Did, Used

_REASON = HotelText("Cancelled by the guest in a call.")


async def find_reservation(call: Call, subject: CallSubject) -> Did:
    """The stay that the call names, or the next one of the customer."""
    reservation_id = await _find(call, subject)
    if reservation_id is None:
        return Did(Used(False, "find_reservation: there is none that fits"))
    return _did("find_reservation", await reservations.show(call, reservation_id))


async def confirm_reservation(call: Call, subject: CallSubject) -> Did:
    """Note that the guest will come."""
    reservation_id = await _needed(call, subject)
    return _did("confirm_reservation", await reservations.confirm(call, reservation_id))


async def cancel_reservation(call: Call, subject: CallSubject) -> Did:
    """Cancel the stay, as the hotel itself does."""
    reservation_id = await _needed(call, subject)
    why = Cancel(reason=_REASON)
    return _did("cancel_reservation", await reservations.cancel(call, reservation_id, why))


async def note_service_request(call: Call, subject: CallSubject) -> Did:
    """Note the guest's wish in the guest's own words."""
    if not subject.heard:
        raise Refused("The guest has said nothing that could be noted.")
    reservation_id = await _needed(call, subject)
    wish = NewServiceRequest(
        category="other",
        description=HotelText(subject.heard),
        reservation_id=reservation_id,
        source="voice",
    )
    await requests.create(call, wish)
    told = f"note_service_request: {wish.description}"
    return Did(Used(True, told, {}, reservation_id=reservation_id, has_noted_words=True))


async def _needed(call: Call, subject: CallSubject) -> UUID:
    reservation_id = await _find(call, subject)
    if reservation_id is None:
        raise Refused("There is no reservation of this guest.")
    return reservation_id


async def _find(call: Call, subject: CallSubject) -> UUID | None:
    if subject.reservation_id is not None:
        return await store.find_open_stay(call.db, call.book.id, subject.reservation_id)
    named = named_in(subject.context)
    return await store.find_next_stay(call.db, call.book.id, subject.phone, named, call.now)


def _did(tool: str, stay: Reservation) -> Did:
    words = {
        "reservation": stay.short_code,
        "room": stay.room_type_name,
        "arrival": _spoken(parse_date(stay.check_in_date)),
        "departure": _spoken(parse_date(stay.check_out_date)),
    }
    return Did(Used(True, f"{tool}: {stay.short_code}", words, reservation_id=stay.id))


def _spoken(day: date) -> str:
    return f"{day:%A} {day.day} {day:%B}"


_NAMES = re.compile(r"\b(?:[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9A-Za-z]{8})\b")
_NAMES_MAX = 20


def named_in(context: str) -> list[str]:
    """Everything in a text that may be the id or the code of a stay, as they are spelt."""
    found = (match.group() for match in _NAMES.finditer(context))
    return [name.lower() if "-" in name else name.upper() for name in found][:_NAMES_MAX]
