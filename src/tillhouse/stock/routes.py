"""The routes of stock: /v1/inventory."""

from tillhouse.http.route import Route, Scope
from tillhouse.stock import actions

_STOCK = "/v1/inventory"
_READ = Scope("products:read")
_WRITE = Scope("inventory:write")

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
