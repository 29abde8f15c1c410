"""How much there is of each variant: the face of the room, with its routes."""

from tillhouse.access.scopes import Scope
from tillhouse.db.constraints import not_allowed
from tillhouse.http.route import Group, Route
from tillhouse.http.route import Scope as Needs
from tillhouse.room import Room
from tillhouse.stock import actions
from tillhouse.stock.events import EVENTS
from tillhouse.stock.rules import BOUNDS, UNCOUNTABLE

_STOCK = "/v1/inventory"
_READ = Needs("products:read")
_WRITE = Needs("inventory:write")

ROUTES: tuple[Route, ...] = (
    Route("GET", _STOCK, actions.list_page, _READ,
          "List stock levels, one per variant and store", "Stock levels"),
    Route("GET", _STOCK + "/moves", actions.list_moves_page, _READ,
          "List moves of stock, the newest first", "Stock moves"),
    Route("POST", _STOCK + "/adjustments", actions.adjust, _WRITE,
          "Adjust the stock of a variant: a purchase, waste, an opening or a correction",
          "Stock adjusted",
          status=201, idempotent=True, faults=actions.adjustment_faults),
    Route("POST", _STOCK + "/counts", actions.count, _WRITE,
          "Set stock to what was counted", "Stock counted",
          status=201, idempotent=True, faults=actions.count_faults),
    Route("POST", _STOCK + "/transfers", actions.transfer, _WRITE,
          "Transfer stock from one store to another", "Stock transferred",
          status=201, idempotent=True, faults=actions.transfer_faults),
)  # fmt: skip


ROOM = Room(
    name="stock",
    routes=ROUTES,
    groups=(Group("/v1/inventory", "Inventory", "Levels of stock, and every move.", "catalog"),),
    events=EVENTS,
    scopes=(Scope("inventory:write", "Adjust stock", "Catalog", "medium"),),
    kept_tables=("stock_levels", "stock_moves"),
    refusals=tuple(not_allowed(name, UNCOUNTABLE) for name in BOUNDS.values()),
)
