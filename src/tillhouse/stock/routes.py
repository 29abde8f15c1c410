"""The routes of stock: /v1/inventory."""

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.kit.errors import FieldError
from tillhouse.stock import actions
from tillhouse.stock.types import (
    LevelFilter,
    MoveFilter,
    NewAdjustment,
    NewCount,
    NewTransfer,
    StockLevel,
    StockLevels,
    StockMove,
)


async def list_levels(call: Call, query: LevelFilter) -> Reply[list[StockLevel]]:
    """List stock levels, one per variant and store."""
    found, page = await actions.list_page(call, query)
    return Reply("Stock levels", found, meta=page)


async def list_moves(call: Call, query: MoveFilter) -> Reply[list[StockMove]]:
    """List moves of stock, the newest first."""
    found, page = await actions.list_moves_page(call, query)
    return Reply("Stock moves", found, meta=page)


async def adjust(call: Call, body: NewAdjustment) -> Reply[StockLevel]:
    """Adjust the stock of a variant: a purchase, waste, an opening or a correction."""
    return Reply("Stock adjusted", await actions.adjust(call, body))


async def adjustment_faults(call: Call, body: NewAdjustment) -> list[FieldError]:
    """The faults of the adjustment."""
    return await actions.adjustment_faults(call, body)


async def count(call: Call, body: NewCount) -> Reply[StockLevels]:
    """Set stock to what was counted."""
    return Reply("Stock counted", await actions.count(call, body))


async def count_faults(call: Call, body: NewCount) -> list[FieldError]:
    """The faults of the count."""
    return await actions.count_faults(call, body)


async def transfer(call: Call, body: NewTransfer) -> Reply[StockLevels]:
    """Transfer stock from one store to another."""
    return Reply("Stock transferred", await actions.transfer(call, body))


async def transfer_faults(call: Call, body: NewTransfer) -> list[FieldError]:
    """The faults of the transfer."""
    return await actions.transfer_faults(call, body)


_STOCK = "/v1/inventory"
_READ = Scope("products:read")
_WRITE = Scope("inventory:write")

ROUTES: tuple[Route, ...] = (
    Route("GET", _STOCK, list_levels, _READ),
    Route("GET", _STOCK + "/moves", list_moves, _READ),
    Route(
        "POST", _STOCK + "/adjustments", adjust, _WRITE, status=201, idempotent=True,
        faults=adjustment_faults,
    ),
    Route(
        "POST", _STOCK + "/counts", count, _WRITE, status=201, idempotent=True,
        faults=count_faults,
    ),
    Route(
        "POST", _STOCK + "/transfers", transfer, _WRITE, status=201, idempotent=True,
        faults=transfer_faults,
    ),
)  # fmt: skip
