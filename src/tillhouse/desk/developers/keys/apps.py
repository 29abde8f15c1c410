"""Pages of apps: the groups that keys and endpoints belong to, each with a signing secret."""

from collections.abc import Mapping
from typing import Any

from tillhouse.desk.developers.keys import operations as ops
from tillhouse.desk.developers.keys.operations import LIST_APPS
from tillhouse.desk.developers.keys.words import KEYS
from tillhouse.desk.frame.places import LIST_KEYS, frame_of
from tillhouse.desk.page import Goal, Onward, PageRequest, PageRoute, Shown

APPS = f"{KEYS}/apps"


async def show(page: PageRequest) -> Shown:
    """The apps of the book that is shown, and the form for another one."""
    frame = await frame_of(page)
    found, keys = await page.needed(ops.LIST_APPS), await page.needed(LIST_KEYS)
    rows = [
        {"name": one["name"], "is_default": one["isDefault"],
         "address": f"{KEYS}?app={one['id']}",
         "keys": sum(key["developerAppId"] == one["id"] for key in keys.data),
         "created": frame.when(one["createdAt"])}
        for one in found.data
        if one["environment"] == page.mode
    ]  # fmt: skip
    facts: dict[str, Any] = {"rows": rows, "may_make": page.may(ops.MAKE_APP)}
    return Shown("developers/keys/apps.html", facts)


async def make(page: PageRequest) -> Onward:
    """Make an app."""
    body = {"name": page.form.get("name", ""), "environment": page.mode}
    await page.act(ops.MAKE_APP, body=body, key=page.form.get("idempotency_key"))
    return Onward(APPS)


ROUTES = (
    PageRoute("GET", APPS, show, goal=Goal("apps.title", (ops.LIST_APPS,))),
    PageRoute("POST", APPS, make, refused=show),
)


async def app_names(page: PageRequest) -> Mapping[str, str]:
    """The names of the apps by their ids; the default app is the first."""
    found = (await page.needed(LIST_APPS)).data
    own = [one for one in found if one["environment"] == page.mode]
    own.sort(key=lambda one: not one["isDefault"])
    return {one["id"]: one["name"] for one in own}
