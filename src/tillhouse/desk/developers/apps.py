"""The apps of the book that is shown, as pages of keys and of webhooks name them."""

from collections.abc import Mapping

from tillhouse.desk.developers.keys.operations import LIST_APPS
from tillhouse.desk.page import PageRequest


async def app_names(page: PageRequest) -> Mapping[str, str]:
    """The names of the apps by their ids; the default app is the first."""
    found = (await page.needed(LIST_APPS)).data
    own = [one for one in found if one["environment"] == page.mode]
    own.sort(key=lambda one: not one["isDefault"])
    return {one["id"]: one["name"] for one in own}
