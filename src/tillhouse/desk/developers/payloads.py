"""Payloads of events: whole where they are kept, and shown up to a bound."""

import zlib
from collections.abc import Mapping
from typing import Any

import msgspec

from tillhouse.desk.developers.webhooks.operations import EVENT
from tillhouse.desk.page import PageRequest
from tillhouse.kit.errors import Missing
from tillhouse.kit.json import encode

SHOWN_MAX = 6_000
# So much may it add to a page as that is sent: texts of ids and tokens hardly become smaller.
_SENT_MAX = 2_400
_INDENT = 2
Data = Mapping[str, Any]


class Payload(msgspec.Struct, frozen=True):
    """The beginning of a payload, and how many of its characters are left out."""

    text: str
    left_out: int
    # Whether it ends where the log keeps no more.
    is_cut: bool = False


def shown(event: Data) -> Payload:
    """An event as its payload, laid out in lines."""
    text = msgspec.json.format(encode(event), indent=_INDENT).decode()
    beginning = bounded(text)
    return Payload(beginning, len(text) - len(beginning))


def bounded(text: str) -> str:
    """The beginning of a text, as much of it as a page can hold."""
    beginning = text[:SHOWN_MAX]
    while (sent := len(zlib.compress(beginning.encode()))) > _SENT_MAX:
        beginning = beginning[: len(beginning) * _SENT_MAX // sent]
    return beginning


async def event_of(page: PageRequest, event_id: str) -> Data | None:
    """An event by its id, where it is kept and the role reads events."""
    try:
        found = await page.read(EVENT, event_id)
    except Missing:
        return None
    return found.data if found else None


async def payload_of(page: PageRequest, delivery: Data) -> Payload:
    """The payload of a delivery; of an older one, the beginning that the log keeps."""
    event = await event_of(page, delivery["eventId"])
    if event is not None:
        return shown(event)
    return Payload(delivery["payloadPreview"]["preview"], 0, is_cut=True)
