"""Where business is done, and who works there: what this room brings along."""

from tillhouse.access.scopes import pair
from tillhouse.db.constraints import taken
from tillhouse.http.route import Group
from tillhouse.room import Room
from tillhouse.stores.routes import ROUTES

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
