"""The lists that a sale chooses from besides its goods: categories, promotions, tags, and those
that the kind of business has: terms of a school, occupied rooms of a hotel."""

from collections.abc import Mapping
from typing import Any

from tillhouse.desk.frame.places import LIST_CUSTOMERS, Frame
from tillhouse.desk.operations import Operation, OperationAnswer
from tillhouse.desk.page import PageRequest
from tillhouse.desk.products.operations import CATEGORIES, PROMOTIONS
from tillhouse.hotel.room import ROOM as HOTEL
from tillhouse.labels.room import ROOM as LABELS

TAGS = Operation(LABELS, "GET", "/v1/tags")
TERMS = Operation(LABELS, "GET", "/v1/academic-terms")
ROOMS = Operation(HOTEL, "GET", "/v1/hotel/rooms")
# As many as one list of choices can still be read in; the rest is found by typing, or in the API.
_SHOWN = 100
_NOTHING = OperationAnswer([], "", {})

Options = Mapping[str, list[tuple[str, str]]]


async def options_of(page: PageRequest, frame: Frame) -> Options:
    """Each list by the field of the sale that it is for; an id, or a word, and its name."""
    kind = frame.business.type
    read = {
        "category_id": page.read(CATEGORIES, limit=_SHOWN),
        "promotion_id": page.read(PROMOTIONS, limit=_SHOWN, is_active="true"),
        "tags": page.read(TAGS, limit=_SHOWN),
        "customer_name": page.read(LIST_CUSTOMERS, limit=_SHOWN),
    }
    if kind == "school":
        read["academic_term_id"] = page.read(TERMS, limit=_SHOWN)
    if kind == "hotel":
        read["hotel_room_id"] = page.read(ROOMS, limit=_SHOWN)
    answers = await page.together(*read.values())
    found = {name: answer or _NOTHING for name, answer in zip(read, answers, strict=True)}
    return {name: [_option(name, one) for one in answer.data if _is_open(name, one)]
            for name, answer in found.items()}  # fmt: skip


def _option(name: str, one: Mapping[str, Any]) -> tuple[str, str]:
    if name in ("tags", "customer_name"):
        return one["name"], one["name"]
    if name == "hotel_room_id":
        return one["id"], f"{one['number']}, {one['guestName']}"
    return one["id"], one["name"]


def _is_open(name: str, one: Mapping[str, Any]) -> bool:
    """A room takes charges as long as somebody is checked in there."""
    return name != "hotel_room_id" or one["guestName"] is not None
