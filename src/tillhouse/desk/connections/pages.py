"""Connections: every other system that the business works with, by its kind."""

from tillhouse.desk.connections import messaging, providers, telephones
from tillhouse.desk.connections.operations import LIST_NUMBERS, LIST_TELEPHONES
from tillhouse.desk.frame.places import LIST_PROVIDERS, frame_of
from tillhouse.desk.page import PageRequest, PageRoute, Shown

_TELEPHONES_SHOWN = 5


async def show_list(page: PageRequest) -> Shown:
    """The providers that the book can have, and the numbers that it writes and calls from."""
    frame = await frame_of(page)
    found = await page.needed(LIST_PROVIDERS)
    written, called = await page.together(
        page.read(LIST_NUMBERS, limit=1), page.read(LIST_TELEPHONES, limit=_TELEPHONES_SHOWN)
    )
    active = messaging.active_of(written.data) if written else None
    facts = {
        "rows": [providers.shown(one, frame, page.request.now) for one in found.data],
        "may_read_messaging": written is not None,
        "number": messaging.shown(active, page, frame) if active else None,
        "telephones": None if called is None else list(map(telephones.row, called.data)),
    }
    return Shown("connections/list.html", facts)


ROUTES = (
    PageRoute("GET", "/desk/connections", show_list),
    *providers.ROUTES,
    *messaging.ROUTES,
    *telephones.ROUTES,
)
