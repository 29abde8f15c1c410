"""The numbers that wait for somebody: the face of the room."""

from tillhouse.counts import actions
from tillhouse.http.route import Group, Route, Scope
from tillhouse.room import Room

# Each role reads some of them.
_READ = Scope("orders:read", roles=("kitchen", "housekeeping"))

ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/counts", actions.show, _READ,
          "Count what waits for somebody, as far as the caller may read it", "Counts"),
)  # fmt: skip

ROOM = Room(
    name="counts",
    routes=ROUTES,
    groups=(Group("/v1/counts", "Counts", "The numbers that wait for somebody.", "orders"),),
)
