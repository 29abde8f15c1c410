"""The routes of this room: /v1/customers."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.customers import actions
from tillhouse.customers.types import Customer, CustomerFilter, CustomerPatch, NewCustomer
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.kit.deleted import Deleted
from tillhouse.kit.errors import FieldError


async def list_customers(call: Call, query: CustomerFilter) -> Reply[list[Customer]]:
    """List customers, the newest first."""
    found, page = await actions.list_page(call, query)
    return Reply("Customers", found, meta=page)


async def create_customer(call: Call, body: NewCustomer) -> Reply[Customer]:
    """Create a customer."""
    return Reply("Customer created", await actions.create(call, body))


async def new_customer_faults(call: Call, body: NewCustomer) -> list[FieldError]:
    """The faults of the customer."""
    return await actions.new_faults(call, body)


async def show_customer(call: Call, customer_id: UUID) -> Reply[Customer]:
    """Read one customer."""
    return Reply("Customer", await actions.show(call, customer_id))


async def change_customer(call: Call, customer_id: UUID, body: CustomerPatch) -> Reply[Customer]:
    """Update a customer."""
    return Reply("Customer updated", await actions.change(call, customer_id, body))


async def customer_faults(call: Call, customer_id: UUID, body: CustomerPatch) -> list[FieldError]:
    """The faults of a change of a customer."""
    return await actions.patch_faults(call, customer_id, body)


async def delete_customer(call: Call, customer_id: UUID) -> Reply[Deleted]:
    """Delete a customer; number and address are free again."""
    return Reply("Customer deleted", await actions.delete(call, customer_id))


_ALL = "/v1/customers"
_ONE = "/v1/customers/{customer_id}"
_READ = Scope("customers:read")
_WRITE = Scope("customers:write")

ROUTES: tuple[Route, ...] = (
    Route("GET", _ALL, list_customers, _READ),
    Route(
        "POST",
        _ALL,
        create_customer,
        _WRITE,
        status=201,
        idempotent=True,
        faults=new_customer_faults,
    ),
    Route("GET", _ONE, show_customer, _READ),
    Route("PATCH", _ONE, change_customer, _WRITE, faults=customer_faults),
    Route("DELETE", _ONE, delete_customer, _WRITE),
)
