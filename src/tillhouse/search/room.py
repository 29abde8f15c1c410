"""One search over all lists: the face of the room."""

from tillhouse.http.route import Group, Route
from tillhouse.room import Room
from tillhouse.search import actions
from tillhouse.search.rules import GUARDS

ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/search", actions.find, GUARDS["order"],
          "Find orders, customers and other things, as far as the caller may read them", "Found"),
)  # fmt: skip

ROOM = Room(
    name="search",
    routes=ROUTES,
    groups=(Group("/v1/search", "Search", "One search over all lists.", "orders"),),
)
