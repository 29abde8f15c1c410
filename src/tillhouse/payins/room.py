"""Money that comes in by providers: what this room brings along."""

from tillhouse.room import Room

ROOM = Room(
    name="payins",
    kept_tables=("payins", "payment_providers", "provider_events", "virtual_accounts"),
)
