"""The declarations of promotions: discounts for those they are for."""

from tillhouse.access.scopes import pair
from tillhouse.http.route import Group, Route, Scope
from tillhouse.promotions import actions
from tillhouse.room import Room

_PROMOTIONS = "/v1/promotions"
_ONE = _PROMOTIONS + "/{promotion_id}"
_READ = Scope("promotions:read")
_WRITE = Scope("promotions:write")

ROUTES: tuple[Route, ...] = (
    Route("GET", _PROMOTIONS, actions.list_page, _READ,
          "List promotions by name", "Promotions"),
    Route("POST", _PROMOTIONS, actions.create, _WRITE,
          "Create a promotion", "Promotion created",
          status=201, idempotent=True, faults=actions.new_faults),
    Route("GET", _ONE, actions.show, _READ, "Read one promotion", "Promotion"),
    Route("PATCH", _ONE, actions.change, _WRITE,
          "Update a promotion; orders that were recorded keep what they got",
          "Promotion updated",
          faults=actions.patch_faults),
    Route("DELETE", _ONE, actions.delete, _WRITE,
          "Delete a promotion; orders that have it keep it", "Promotion deleted"),
)  # fmt: skip


ROOM = Room(
    name="promotions",
    routes=ROUTES,
    groups=(
        Group(
            "/v1/promotions", "Promotions", "How much off, for whom, when, how often.", "catalog"
        ),
    ),
    scopes=pair(
        "promotions", ("promotions", "Catalog"), "medium", readers=("cashier", "front_desk")
    ),
    kept_tables=("promotion_customers", "promotions"),
)
