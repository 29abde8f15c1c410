"""People who buy: what this room brings along."""

from tillhouse.access.scopes import pair
from tillhouse.customers.events import EVENTS
from tillhouse.customers.routes import ROUTES
from tillhouse.db.constraints import taken
from tillhouse.http.route import Group
from tillhouse.room import Room

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
