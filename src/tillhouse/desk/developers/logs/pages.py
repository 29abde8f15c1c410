"""Pages of the audit log, of the latest events, and of the usage of the API."""

from collections.abc import Mapping
from typing import Any

from tillhouse.desk.developers import payloads
from tillhouse.desk.developers.logs import figures
from tillhouse.desk.developers.logs.operations import USAGE
from tillhouse.desk.developers.webhooks import operations as ops
from tillhouse.desk.developers.webhooks import words
from tillhouse.desk.frame.lists import pager
from tillhouse.desk.frame.places import AUDIT, LIST_ENDPOINTS, LIST_KEYS, frame_of
from tillhouse.desk.page import Goal, Live, PageRequest, PageRoute, Shown
from tillhouse.kit.errors import Missing

LOGS, EVENTS, USED = "/desk/developers/logs", "/desk/developers/events", "/desk/developers/usage"
_EVENT = EVENTS + "/{event_id}"
_PER_PAGE, _EVENTS_SHOWN, _DAYS = 25, 25, (7, 30, 90)
_FILTERS = ("api_key_id", "event_type", "entity_id", "start_date", "end_date", "page")


async def show_audit(page: PageRequest) -> Shown:
    """Everything that was done to keys, endpoints, people and money, the newest first."""
    frame, query = await frame_of(page), page.request.query
    wanted = {name: query[name] for name in _FILTERS if query.get(name)}
    found = await page.needed(AUDIT, per_page=_PER_PAGE, **wanted)
    keys = (await page.needed(LIST_KEYS)).data
    facts: dict[str, Any] = {
        "rows": [one | {"when": frame.when_exactly(one["createdAt"])}
                 for one in found.data],
        "pager": pager(LOGS, query, found.extra["meta"]),
        "keys": [(one["id"], one["name"]) for one in keys],
    }  # fmt: skip
    return Shown("developers/logs/audit.html", facts)


async def show_events(page: PageRequest) -> Shown:
    """The latest events of the book that is shown."""
    frame, chosen = await frame_of(page), page.request.query.get("events") or None
    found = await page.needed(ops.LATEST_EVENTS, events=chosen)
    catalogue = (await page.needed(ops.CATALOGUE)).data
    labels = {one["type"]: one["label"] for one in catalogue}
    rows = [
        {"address": f"{EVENTS}/{one['id']}", "type": one["type"], "at": one["created"],
         "label": labels.get(one["type"], ""),
         "when": frame.when_exactly(one["created"])}
        for one in found.data[:_EVENTS_SHOWN]
    ]  # fmt: skip
    return Shown("developers/logs/events.html", {"rows": rows, "types": list(labels)})


async def show_event(page: PageRequest) -> Shown:
    """One event: its payload beside its documented shape, and its deliveries."""
    frame, event_id = await frame_of(page), page.path["event_id"]
    event = await payloads.event_of(page, event_id)
    if event is None:
        raise Missing
    listed = await page.needed(ops.LIST_DELIVERIES, event_id=event_id)
    endpoints = (await page.needed(LIST_ENDPOINTS)).data
    names = {one["id"]: one["name"] for one in endpoints}
    catalogue = (await page.needed(ops.CATALOGUE)).data
    kind = next((one for one in catalogue if one["type"] == event["type"]), None)
    told = {one["webhookEndpointId"] for one in listed.data}
    facts: dict[str, Any] = {
        "event": event,
        "kind": kind,
        "when": frame.when_exactly(event["created"]),
        "payload": payloads.shown(event),
        "fields": figures.fields(kind["schema"], event["data"]) if kind else [],
        "rows": [words.delivery(one, names, frame) for one in listed.data],
        "untold": _untold(endpoints, told, page.mode),
    }
    return Shown("developers/logs/event.html", facts)


async def show_usage(page: PageRequest) -> Shown:
    """Requests by day, by route and by status."""
    frame, asked = await frame_of(page), page.request.query.get("days", "")
    days = next((one for one in _DAYS if str(one) == asked), _DAYS[1])
    found = await page.needed(USAGE, days=days)
    own = [one for one in found.data if one["environment"] == page.mode]
    facts: dict[str, Any] = {
        "usage": figures.usage(own, days, frame.local.date()),
        "storage": [one for one in found.extra["storage"] if one["environment"] == page.mode],
        "days": days,
        "periods": _DAYS,
    }
    return Shown("developers/logs/usage.html", facts)


def _untold(endpoints: list[Mapping[str, Any]], told: set[str], mode: str) -> list[tuple[str, str]]:
    """The endpoints of the book that had no delivery of an event, with their addresses."""
    return [
        (one["name"], f"{words.WEBHOOKS}/{one['id']}")
        for one in endpoints
        if one["environment"] == mode and one["id"] not in told
    ]


_LIVE = Live((ops.LATEST_EVENTS,), {"": ("list",)})
ROUTES = (
    PageRoute("GET", LOGS, show_audit),
    PageRoute(
        "GET",
        EVENTS,
        show_events,
        live=_LIVE,
        goal=Goal("logs.part.events", (ops.LATEST_EVENTS, ops.CATALOGUE)),
    ),
    PageRoute("GET", _EVENT, show_event),
    PageRoute("GET", USED, show_usage, goal=Goal("logs.part.usage", (USAGE,))),
)
