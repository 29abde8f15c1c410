"""Pages of deliveries: the log with its filters, and one with every attempt."""

from typing import Any

from tillhouse.desk.developers.keys.apps import app_names
from tillhouse.desk.developers.payloads import payload_of
from tillhouse.desk.developers.webhooks import operations as ops
from tillhouse.desk.developers.webhooks import words
from tillhouse.desk.developers.webhooks.words import DELIVERIES
from tillhouse.desk.frame.lists import address
from tillhouse.desk.frame.places import LIST_ENDPOINTS, frame_of
from tillhouse.desk.page import Goal, Onward, PageRequest, PageRoute, Shown
from tillhouse.kit.errors import Invalid, Missing

_ONE = DELIVERIES + "/{delivery_id}"
_PER_PAGE = 25
_FILTERS = ("status", "endpoint_id", "event_type", "event_id", "since", "until", "cursor")
_STATUSES = ("", "pending", "delivered", "failed")


async def show_list(page: PageRequest) -> Shown:
    """The deliveries of one app, the newest first."""
    frame, query = await frame_of(page), page.request.query
    apps = await app_names(page)
    app = query.get("app") or next(iter(apps))
    if app not in apps:
        raise Missing
    wanted = {name: query[name] for name in _FILTERS if query.get(name)}
    endpoints = (await page.needed(LIST_ENDPOINTS, developer_app_id=app)).data
    names = {one["id"]: one["name"] for one in endpoints}
    found, refusal = [], None
    try:
        found = (await page.needed(
            ops.LIST_DELIVERIES, developer_app_id=app, limit=_PER_PAGE, **wanted
        )).data  # fmt: skip
    except Invalid as problem:
        refusal = problem
    is_full = len(found) == _PER_PAGE
    onward = address(DELIVERIES, {**query, "cursor": found[-1]["id"]}) if is_full else None
    facts: dict[str, Any] = {
        "rows": [words.delivery(one, names, frame) for one in found],
        "apps": list(apps.items()),
        "app": app,
        "endpoints": list(names.items()),
        "events": [one["type"] for one in (await page.needed(ops.CATALOGUE)).data],
        "statuses": _STATUSES,
        "newest": address(DELIVERIES, {**query, "cursor": ""}) if "cursor" in wanted else None,
        "onward": onward,
    }
    return Shown("developers/webhooks/deliveries.html", facts, refusal=refusal)


async def show_one(page: PageRequest) -> Shown:
    """One delivery: its attempts, with their timing and the answers, and its payload."""
    frame = await frame_of(page)
    one = (await page.needed(ops.DELIVERY, page.path["delivery_id"])).data
    if one["environment"] != page.mode:
        raise Missing
    endpoints = await page.needed(LIST_ENDPOINTS, developer_app_id=one["developerAppId"])
    names = {each["id"]: each["name"] for each in endpoints.data}
    facts: dict[str, Any] = {
        "delivery": one,
        "row": words.delivery(one, names, frame),
        "facts": list(words.delivery_facts(one, names, frame)),
        "attempts": words.attempts(one, frame),
        "payload": await payload_of(page, one),
        "is_queued": page.request.query.get("done") == "queued",
    }
    return Shown("developers/webhooks/delivery.html", facts)


async def resend(page: PageRequest) -> Onward:
    """Queue the same event again."""
    delivery_id = page.path["delivery_id"]
    await page.act(ops.RESEND, delivery_id, key=page.form.get("idempotency_key"))
    return Onward(f"{DELIVERIES}/{delivery_id}?done=queued")


ROUTES = (
    PageRoute("GET", DELIVERIES, show_list, goal=Goal("deliveries.title", (ops.LIST_DELIVERIES,))),
    PageRoute("GET", _ONE, show_one),
    PageRoute("POST", f"{_ONE}/resend", resend, refused=show_one),
)
