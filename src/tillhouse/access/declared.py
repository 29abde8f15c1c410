"""What the rooms declare, joined: the ground works with it and knows none of them."""

import msgspec

from tillhouse.kit.events import EventType
from tillhouse.kit.values import Lists


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """All that is declared, by the rooms together."""

    # Every event that an endpoint can subscribe to, in the order of the catalogue.
    events: tuple[EventType, ...]
    # The names that a request may give, by the list that they are on.
    lists: Lists
