"""The palette, which is a page of its own without scripts, and the table of keys."""

from tillhouse.desk.frame.places import frame_of
from tillhouse.desk.page import Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.search.found import places, things


async def search(page: PageRequest) -> Shown | Onward:
    """Pages, actions and things for some words; an exact id or code leads straight to its thing."""
    frame, query = await frame_of(page), page.request.query.get("q", "").strip()
    found = await things(page, frame, query)
    # The palette asks while somebody types: it never leaves by itself.
    if found.exact and not page.blocks:
        return Onward(found.exact)
    groups = [*places(page, frame, query), *found.groups]
    return Shown("search/search.html", {"groups": groups, "words": query})


async def show_keys(page: PageRequest) -> Shown:
    """Every key and what it does, with the letters of the pages that the role opens."""
    return Shown("search/keys.html", {"letters": (await frame_of(page)).entries})


ROUTES = (
    PageRoute("GET", "/desk/search", search),
    PageRoute("GET", "/desk/keys", show_keys),
)
