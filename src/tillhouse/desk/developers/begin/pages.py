"""The way from a key to the first delivery, each step ticked by what operations tell."""

from typing import Any

from tillhouse.desk.developers.keys.pages import NEW as NEW_KEY
from tillhouse.desk.developers.webhooks import operations as ops
from tillhouse.desk.developers.webhooks.endpoints import NEW as NEW_ENDPOINT
from tillhouse.desk.developers.webhooks.words import DELIVERIES, WEBHOOKS
from tillhouse.desk.frame.places import LIST_ENDPOINTS, LIST_KEYS
from tillhouse.desk.operations import OperationCall, listed
from tillhouse.desk.page import Goal, PageRequest, PageRoute, Shown

BEGIN = "/desk/developers/begin"
_LATEST = 100
# A call that tells of the key itself.
_CALL = OperationCall("GET", "/v1/voice/health", "voice:read")


async def show(page: PageRequest) -> Shown:
    """The steps in the book that is shown."""
    keys, endpoints = (await page.needed(LIST_KEYS)).data, (await page.needed(LIST_ENDPOINTS)).data
    own = [one for one in keys if one["environment"] == page.mode]
    there = [one for one in endpoints if one["environment"] == page.mode]
    told = (await page.needed(ops.LIST_DELIVERIES, status="delivered", limit=_LATEST)).data
    endpoint = f"{WEBHOOKS}/{there[0]['id']}" if there else NEW_ENDPOINT
    steps = [
        ("key", f"{NEW_KEY}?preset=read", bool(own)),
        ("call", f"/desk/commands?{listed([_CALL])}", any(one["lastUsedAt"] for one in own)),
        ("endpoint", NEW_ENDPOINT, bool(there)),
        ("delivery", endpoint, any(one["environment"] == page.mode for one in told)),
    ]
    done = [is_done for _, _, is_done in steps]
    facts: dict[str, Any] = {
        "steps": steps,
        "next": done.index(False) if False in done else None,
        "command": _CALL.command,
        "log": DELIVERIES,
    }
    return Shown("developers/begin/begin.html", facts)


ROUTES = (
    PageRoute("GET", BEGIN, show, goal=Goal("first_call.title", (LIST_KEYS, LIST_ENDPOINTS))),
)
