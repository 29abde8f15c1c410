"""The number that messages are written from: connected, tried out, and disconnected."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tillhouse.desk.connections.operations import (
    CONNECT_NUMBER,
    DISCONNECT_NUMBER,
    LIST_NUMBERS,
    SIMULATE,
)
from tillhouse.desk.frame.lists import pager
from tillhouse.desk.frame.places import Frame, frame_of
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import named
from tillhouse.desk.page import Goal, Onward, PageRequest, PageRoute, Shown

_PAGE = "/desk/connections/messaging"
_PER_PAGE = 25
# The fields of WhatsApp, and those of them that no page shows again.
_FIELDS = ("phone_number", "provider_number_id", "access_token", "app_secret", "verify_token")
_SECRETS = _FIELDS[2:]
Data = Mapping[str, Any]


class NumberShown(msgspec.Struct, frozen=True, kw_only=True):
    """A number as its page tells it."""

    id: str
    phone: str
    provider: str
    state: str
    # The address that the provider is told to call; None for the sandbox, which needs none.
    hook: str | None
    facts: list[tuple[str, str, None]]


async def show(page: PageRequest) -> Shown:
    """The number that is active, or the form that connects one; below it the earlier ones."""
    frame, query = await frame_of(page), page.request.query
    found = await page.needed(LIST_NUMBERS, limit=_PER_PAGE, page=query.get("page"))
    active = active_of(found.data)
    if active is None and found.extra["meta"]["page"] > 1:
        first = await page.ask(LIST_NUMBERS, query={"limit": 1})
        active = active_of(first.data)
    facts = {
        "number": shown(active, page, frame) if active else None,
        "earlier": [shown(one, page, frame) for one in found.data if one["status"] != "active"],
        "pager": pager(_PAGE, query, found.extra["meta"]),
        "fields": [(name, name in _SECRETS) for name in _FIELDS],
        "may_connect": page.may(CONNECT_NUMBER),
        "may_disconnect": page.may(DISCONNECT_NUMBER),
        "may_simulate": page.mode == "test" and page.may(SIMULATE),
        "done": query.get("done"),
    }
    return Shown("connections/messaging.html", facts)


async def connect(page: PageRequest) -> Onward:
    """Write from a number from now on: WhatsApp's in live, the sandbox's in test."""
    page.check(CONNECT_NUMBER)
    body: dict[str, Any] = {"provider": "sandbox"}
    if page.mode == "live":
        body = {"provider": "whatsapp"}
        body |= {name: page.form[name].strip() for name in _FIELDS if page.form.get(name)}
    await page.act(CONNECT_NUMBER, body=body, key=page.form.get("idempotency_key"))
    return Onward(f"{_PAGE}?done=connected")


async def disconnect(page: PageRequest) -> Onward:
    """Write from it no more, and forget its secrets."""
    page.check(DISCONNECT_NUMBER)
    await page.act(DISCONNECT_NUMBER, page.path["number_id"])
    return Onward(_PAGE)


async def simulate(page: PageRequest) -> Onward:
    """Let a customer of the sandbox write, as a test of the way in."""
    page.check(SIMULATE)
    body = {name: page.form.get(name, "") for name in ("from", "text")}
    await page.act(SIMULATE, body=body, key=page.form.get("idempotency_key"))
    return Onward(f"{_PAGE}?done=arrived")


def active_of(rows: Sequence[Data]) -> Data | None:
    """The active number among some, which is listed first."""
    return next((one for one in rows if one["status"] == "active"), None)


def shown(one: Data, page: PageRequest, frame: Frame) -> NumberShown:
    """A number as its page and the list tell it."""
    base, path = page.services.settings.public_url, one["hookPath"]
    ended = None if one["status"] == "active" else one["updatedAt"]
    told = (
        ("provider", named("messaging_provider", one["provider"])),
        ("provider_number_id", one["providerNumberId"]),
        ("connected", frame.when(one["createdAt"])),
        ("ended", frame.when(ended)),
    )
    return NumberShown(
        id=one["id"],
        phone=one["phoneNumber"],
        provider=one["provider"],
        state=one["status"],
        hook=f"{base}{path}" if path else None,
        facts=[(sentence(f"messaging_fact.{name}"), text, None) for name, text in told if text],
    )


ROUTES = (
    PageRoute("GET", _PAGE, show, goal=Goal("messaging.title", (LIST_NUMBERS,))),
    PageRoute("POST", _PAGE, connect, refused=show),
    PageRoute("POST", f"{_PAGE}/inbound", simulate, refused=show),
    PageRoute("POST", f"{_PAGE}/{{number_id}}/disconnect", disconnect, refused=show),
)
