"""Pages of endpoints: the list, a new one, and one with its health and its deliveries."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tillhouse.desk.developers.keys.apps import app_names
from tillhouse.desk.developers.webhooks import operations as ops
from tillhouse.desk.developers.webhooks import words
from tillhouse.desk.developers.webhooks.words import WEBHOOKS
from tillhouse.desk.fields import instant
from tillhouse.desk.frame.places import LIST_ENDPOINTS, frame_of
from tillhouse.desk.frame.sentences import counted, sentence
from tillhouse.desk.operations import Operation
from tillhouse.desk.page import Goal, Live, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.session.forms import Form
from tillhouse.kit.errors import Missing
from tillhouse.webhooks.events import TEST

NEW = f"{WEBHOOKS}/new"
_ONE = WEBHOOKS + "/{endpoint_id}"
_SHOWN_MAX, _DELIVERIES_SHOWN, _LATEST = 50, 10, 100
_LIVE = Live((ops.ENDPOINT,), {TEST: ("latest",)})
_ALL = "*"
STATUSES = ("failed", "pending", "missing")


async def show_list(page: PageRequest) -> Shown:
    """The endpoints of the book that is shown, and how their latest deliveries went."""
    frame = await frame_of(page)
    found = await page.needed(LIST_ENDPOINTS)
    own = [one for one in found.data if one["environment"] == page.mode]
    latest = await page.needed(ops.LIST_DELIVERIES, limit=_LATEST) if own else None
    deliveries = latest.data if latest else []
    facts: dict[str, Any] = {
        "rows": [words.endpoint(one, deliveries, frame) for one in own[:_SHOWN_MAX]],
        "may_make": page.may(ops.MAKE),
    }
    return Shown("developers/webhooks/list.html", facts)


async def show_new(page: PageRequest) -> Shown:
    """The form of a new endpoint."""
    catalogue, apps = (await page.needed(ops.CATALOGUE)).data, await app_names(page)
    facts: dict[str, Any] = {
        "fields": page.form,
        "groups": words.groups(catalogue, page.form.all("events")),
        "has_all": bool(page.form.get("all")),
        "apps": list(apps.items()),
    }
    return _with_faults(page, Shown("developers/webhooks/new.html", facts))


async def make(page: PageRequest) -> Onward:
    """Make an endpoint."""
    form = page.form
    body = _body(form) | {"environment": page.mode}
    if app := form.get("developer_app_id"):
        body["developer_app_id"] = app
    made = await page.act(ops.MAKE, body=body, key=form.get("idempotency_key"))
    return Onward(f"{WEBHOOKS}/{made.data['id']}")


async def show_one(page: PageRequest) -> Shown:
    """One endpoint, and the form that changes it, as it was typed if it was refused."""
    frame, form = await frame_of(page), page.form if "url" in page.form else None
    one = (await page.needed(ops.ENDPOINT, page.path["endpoint_id"])).data
    if one["environment"] != page.mode:
        raise Missing
    latest = await page.needed(ops.LIST_DELIVERIES, endpoint_id=one["id"], limit=words.TICKS_MAX)
    catalogue, apps = (await page.needed(ops.CATALOGUE)).data, await app_names(page)
    names = {one["id"]: one["name"]}
    chosen = form.all("events") if form else one["events"]
    facts: dict[str, Any] = {
        "endpoint": one,
        "address": f"{WEBHOOKS}/{one['id']}",
        "state": words.state(one),
        "trouble": words.trouble(one, frame),
        "facts": words.facts(one, apps, frame),
        "ticks": words.ticks(latest.data),
        "rows": [words.delivery(each, names, frame) for each in latest.data[:_DELIVERIES_SHOWN]],
        "is_waiting": words.is_waiting(latest.data, page.request.now),
        "fields": form or Form([("name", one["name"]), ("url", one["url"])]),
        "groups": words.groups(catalogue, chosen),
        "has_all": bool(form.get("all")) if form else one["events"] == [_ALL],
        "since": page.form.get("since") or _since(one, frame.zone),
        "statuses": STATUSES,
        "counted": None,
        "done": _done(page.request.query),
    }
    shown = Shown("developers/webhooks/endpoint.html", facts)
    return _with_faults(page, shown) if form else shown


async def change(page: PageRequest) -> Onward:
    """Change its name, its address or what it is told."""
    await page.act(ops.CHANGE, page.path["endpoint_id"], body=_body(page.form))
    return _back(page, "changed")


async def disable(page: PageRequest) -> Onward:
    """Send nothing there any more."""
    return await _act(page, ops.DISABLE, None)


async def enable(page: PageRequest) -> Onward:
    """Send there again."""
    return await _act(page, ops.ENABLE, None)


async def send_test(page: PageRequest) -> Onward:
    """Send a test event there."""
    return await _act(page, ops.TEST, "tested")


async def delete(page: PageRequest) -> Onward:
    """Remove it; its deliveries stay in the log."""
    await page.act(ops.DELETE, page.path["endpoint_id"])
    return Onward(WEBHOOKS)


async def recover(page: PageRequest) -> Shown | Onward:
    """Queue what failed in a span of time again, or only count it."""
    frame, form = await frame_of(page), page.form
    is_preview = form.get("preview") == "true"
    body: dict[str, Any] = {"since": instant(form.get("since", ""), frame.zone),
                            "status": form.get("status", ""), "preview": is_preview}  # fmt: skip
    if until := form.get("until"):
        body["until"] = instant(until, frame.zone)
    key = None if is_preview else form.get("idempotency_key")
    found = await page.act(ops.RECOVER, page.path["endpoint_id"], body=body, key=key)
    if not is_preview:
        return _back(page, f"recovered&count={found.data['count']}")
    count = found.data["count"]
    told = counted("webhooks.counted", count, per_second=found.data["perSecond"])
    if not count and form.get("status") == "failed":
        told = sentence("webhooks.counted_none")
    shown = await show_one(page)
    return msgspec.structs.replace(shown, facts={**shown.facts, "counted": told})


async def _act(page: PageRequest, operation: Operation, done: str | None) -> Onward:
    key = page.form.get("idempotency_key")
    await page.act(operation, page.path["endpoint_id"], key=key)
    return _back(page, done)


def _back(page: PageRequest, done: str | None) -> Onward:
    address = f"{WEBHOOKS}/{page.path['endpoint_id']}"
    return Onward(f"{address}?done={done}" if done else address)


def _body(form: Form) -> dict[str, Any]:
    events = [_ALL] if form.get("all") else form.all("events")
    return {"name": form.get("name", ""), "url": form.get("url", ""), "events": events}


def _since(one: Mapping[str, Any], zone: str) -> str:
    """When it began to fail, or when it was made, as a form writes it."""
    return f"{words.moment(one['failingSince'] or one['createdAt'], zone):%Y-%m-%dT%H:%M}"


def _done(query: Mapping[str, str]) -> str | None:
    done, count = query.get("done"), query.get("count", "")
    if done == "recovered" and count.isascii() and count.isdigit():
        return counted("webhooks.recovered", int(count[:6]))
    return sentence(f"webhooks.done_{done}") if done in ("changed", "tested") else None


def _with_faults(page: PageRequest, shown: Shown) -> Shown:
    """The faults of single events stand at all of them."""
    if page.refusal is None:
        return shown
    faults: dict[str, str] = {}
    for detail in page.refusal.details or ():
        faults.setdefault(detail.field.partition("[")[0], detail.message)
    return msgspec.structs.replace(shown, facts={**shown.facts, "faults": faults})


ROUTES = (
    PageRoute("GET", WEBHOOKS, show_list),
    PageRoute("GET", NEW, show_new, goal=Goal("webhooks.new", (ops.MAKE,), "action")),
    PageRoute("POST", NEW, make, refused=show_new),
    PageRoute("GET", _ONE, show_one, live=_LIVE),
    PageRoute("POST", f"{_ONE}/change", change, refused=show_one),
    PageRoute("POST", f"{_ONE}/disable", disable, refused=show_one),
    PageRoute("POST", f"{_ONE}/enable", enable, refused=show_one),
    PageRoute("POST", f"{_ONE}/test", send_test, refused=show_one),
    PageRoute("POST", f"{_ONE}/recover", recover, refused=show_one),
    PageRoute("POST", f"{_ONE}/delete", delete, refused=show_one),
)
