"""Where business is done, and who works there: what this room brings along."""

from tillhouse.access.scopes import pair
from tillhouse.db.constraints import taken
from tillhouse.room import Room
from tillhouse.stores.routes import ROUTES

ROOM = Room(
    name="stores",
    routes=ROUTES,
    scopes=pair("stores", ("stores and staff", "Business"), "medium", readers=("cashier",)),
    tables=("stores",),
    refusals=(
        taken("stores_name_key", "There is a store of this name already: choose another name."),
    ),
)
