"""The routes of stores and staff."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.kit.deleted import Deleted
from tillhouse.kit.errors import FieldError
from tillhouse.kit.page import Paged
from tillhouse.stores import actions
from tillhouse.stores.types import NewStore, Staff, Store, StorePatch


async def list_stores(call: Call, query: Paged) -> Reply[list[Store]]:
    """List stores."""
    found, page = await actions.list_stores(call, query)
    return Reply("Stores", found, meta=page)


async def create_store(call: Call, body: NewStore) -> Reply[Store]:
    """Create a store."""
    return Reply("Store created", await actions.create_store(call, body))


async def show_store(call: Call, store_id: UUID) -> Reply[Store]:
    """Read one store."""
    return Reply("Store", await actions.show_store(call, store_id))


async def change_store(call: Call, store_id: UUID, body: StorePatch) -> Reply[Store]:
    """Update a store."""
    return Reply("Store updated", await actions.change_store(call, store_id, body))


async def delete_store(call: Call, store_id: UUID) -> Reply[Deleted]:
    """Delete a store in which no table and no stock is left."""
    return Reply("Store deleted", await actions.delete_store(call, store_id))


async def new_store_faults(call: Call, body: NewStore) -> list[FieldError]:
    """The faults of a new store."""
    return await actions.store_faults(call, body)


async def store_faults(call: Call, store_id: UUID, body: StorePatch) -> list[FieldError]:
    """The faults of a change of a store."""
    await actions.show_store(call, store_id)
    return await actions.store_faults(call, body)


async def list_staff(call: Call, query: Paged) -> Reply[list[Staff]]:
    """List those who work for the business."""
    found, page = await actions.list_staff(call, query)
    return Reply("Staff", found, meta=page)


async def show_staff(call: Call, staff_id: UUID) -> Reply[Staff]:
    """Read one who works for the business."""
    return Reply("Staff", await actions.show_staff(call, staff_id))


_STORES, _STORE = "/v1/stores", "/v1/stores/{store_id}"
_READ, _WRITE = Scope("stores:read"), Scope("stores:write")

ROUTES: tuple[Route, ...] = (
    Route("GET", _STORES, list_stores, _READ),
    Route(
        "POST", _STORES, create_store, _WRITE, status=201, idempotent=True, faults=new_store_faults
    ),
    Route("GET", _STORE, show_store, _READ),
    Route("PATCH", _STORE, change_store, _WRITE, faults=store_faults),
    Route("DELETE", _STORE, delete_store, _WRITE),
    Route("GET", "/v1/staff", list_staff, _READ),
    Route("GET", "/v1/staff/{staff_id}", show_staff, _READ),
)
