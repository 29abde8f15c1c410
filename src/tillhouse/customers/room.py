"""People who buy: the face of the room."""

from tillhouse.access.scopes import pair
from tillhouse.customers import actions
from tillhouse.customers.events import EVENTS
from tillhouse.db.constraints import taken
from tillhouse.http.route import Group, Route, Scope
from tillhouse.room import Room

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


ROOM = Room(
    name="customers",
    routes=ROUTES,
    groups=(Group("/v1/customers", "Customers", "The people who buy.", "customers"),),
    events=EVENTS,
    scopes=pair(
        "customers",
        ("customers", "Customers"),
        "medium",
        readers=("cashier", "front_desk"),
        writers=("cashier", "front_desk"),
    ),
    kept_tables=("customer_tallies", "customers"),
    refusals=(
        taken("customers_phone_key", "Another customer has this phone number already."),
        taken("customers_email_key", "Another customer has this e-mail address already."),
    ),
)
