"""Where business is done, and who works there: the face of the room."""

from tillhouse.access.scopes import pair
from tillhouse.db.constraints import taken
from tillhouse.http.route import Group, Route, Scope
from tillhouse.room import Room
from tillhouse.stores import actions

_STORES, _STORE = "/v1/stores", "/v1/stores/{store_id}"
_READ, _WRITE = Scope("stores:read"), Scope("stores:write")

ROUTES: tuple[Route, ...] = (
    Route("GET", _STORES, actions.list_stores, _READ, "List stores", "Stores"),
    Route("POST", _STORES, actions.create_store, _WRITE,
          "Create a store", "Store created",
          status=201, idempotent=True, faults=actions.store_faults),
    Route("GET", _STORE, actions.show_store, _READ, "Read one store", "Store"),
    Route("PATCH", _STORE, actions.change_store, _WRITE,
          "Update a store", "Store updated",
          faults=actions.store_patch_faults),
    Route("DELETE", _STORE, actions.delete_store, _WRITE,
          "Delete a store in which no table and no stock is left", "Store deleted"),
    Route("GET", "/v1/staff", actions.list_staff, _READ,
          "List those who work for the business", "Staff"),
    Route("GET", "/v1/staff/{staff_id}", actions.show_staff, _READ,
          "Read one who works for the business", "Staff"),
)  # fmt: skip


ROOM = Room(
    name="stores",
    routes=ROUTES,
    groups=(
        Group("/v1/stores", "Stores", "The places of business.", "places"),
        Group("/v1/staff", "Staff", "The people who work for the business.", "places"),
    ),
    scopes=pair(
        "stores", ("stores and staff", "Business"), "medium", readers=("cashier", "front_desk")
    ),
    kept_tables=("stores",),
    refusals=(
        taken("stores_name_key", "There is a store of this name already: choose another name."),
    ),
)
