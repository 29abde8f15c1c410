"""The routes of this room: /v1/customers."""

from tillhouse.customers import actions
from tillhouse.http.route import Route, Scope

_ALL = "/v1/customers"
_ONE = "/v1/customers/{customer_id}"
_READ = Scope("customers:read")
_WRITE = Scope("customers:write")

ROUTES: tuple[Route, ...] = (
    Route("GET", _ALL, actions.list_page, _READ,
          "List customers, the newest first", "Customers"),
    Route("POST", _ALL, actions.create, _WRITE,
          "Create a customer", "Customer created",
          status=201, idempotent=True, faults=actions.new_faults),
    Route("GET", _ONE, actions.show, _READ, "Read one customer", "Customer"),
    Route("PATCH", _ONE, actions.change, _WRITE,
          "Update a customer", "Customer updated",
          faults=actions.patch_faults),
    Route("DELETE", _ONE, actions.delete, _WRITE,
          "Delete a customer; number and address are free again", "Customer deleted"),
)  # fmt: skip
