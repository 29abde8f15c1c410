"""One search over all lists: the face of the room, and how it looks."""

from tillhouse.access.call import Call
from tillhouse.customers.store import find_country
from tillhouse.http.route import Group, Route
from tillhouse.kit.phone import looks_like_phone
from tillhouse.room import Room
from tillhouse.search import store
from tillhouse.search.rules import GUARDS, id_of, kinds_of, terms_of
from tillhouse.search.types import Found, Search


async def find(call: Call, wanted: Search) -> list[Found]:
    """The things that the caller may read and that have this id, code, number or name."""
    if wanted.q is None:
        return []
    here = call.db, call.book.id, call.business_id, kinds_of(call.caller)
    if (id_ := id_of(wanted.q)) is not None:
        rows = await store.find_by_id(*here, id_)
    else:
        # Only a phone number is read by the country.
        country = await find_country(call.db, call.book.id) if looks_like_phone(wanted.q) else ""
        rows = await store.find_by_terms(*here, terms_of(wanted.q, country), wanted.limit)
    return [Found(**row) for row in rows]


ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/search", find, GUARDS["order"],
          "Find orders, customers and other things, as far as the caller may read them", "Found"),
)  # fmt: skip

ROOM = Room(
    name="search",
    routes=ROUTES,
    groups=(Group("/v1/search", "Search", "One search over all lists.", "orders"),),
)
