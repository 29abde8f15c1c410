"""Payloads of events: whole where they are kept, and shown up to a bound."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import msgspec

from tillhouse.desk.developers.webhooks.operations import LATEST_EVENTS
from tillhouse.desk.page import PageRequest
from tillhouse.kit.json import encode

SHOWN_MAX = 6_000
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
    return Payload(text[:SHOWN_MAX], max(0, len(text) - SHOWN_MAX))


async def event_of(page: PageRequest, event_id: str) -> Data | None:
    """An event by its id, where it is among the latest and the role reads events."""
    before = str(UUID(int=UUID(event_id).int - 1))
    found = await page.read(LATEST_EVENTS, since=before)
    return next((one for one in (found.data if found else ()) if one["id"] == event_id), None)


async def payload_of(page: PageRequest, delivery: Data) -> Payload:
    """The payload of a delivery; of an older one, the beginning that the log keeps."""
    event = await event_of(page, delivery["eventId"])
    if event is not None:
        return shown(event)
    return Payload(delivery["payloadPreview"]["preview"], 0, is_cut=True)
