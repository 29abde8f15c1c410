"""The palette, which is a page of its own without scripts, and the table of keys."""

from collections.abc import Sequence

from tillhouse.desk.frame.places import frame_of
from tillhouse.desk.page import Goal, Onward, PageRequest, PageRoute, Shown
from tillhouse.desk.search.found import places_of, things


async def show_keys(page: PageRequest) -> Shown:
    """Every key and what it does, with the letters of the pages that the role opens."""
    return Shown("search/keys.html", {"letters": (await frame_of(page)).entries})


_KEYS = PageRoute(
    "GET", "/desk/keys", show_keys, goal=Goal("search.keys", icon="settings", key="?")
)


def routes_over(routes: Sequence[PageRoute]) -> tuple[PageRoute, ...]:
    """The pages of search, which find those of these routes that say how they are called."""
    places = places_of((*routes, _KEYS))

    async def search(page: PageRequest) -> Shown | Onward:
        frame, query = await frame_of(page), page.request.query.get("q", "").strip()
        found = await things(page, frame, query)
        # The palette asks while somebody types: it never leaves by itself.
        if found.exact and not page.blocks:
            return Onward(found.exact)
        groups = [*places(page, frame, query), *found.groups]
        return Shown("search/search.html", {"groups": groups, "words": query})

    return (PageRoute("GET", "/desk/search", search), _KEYS)
