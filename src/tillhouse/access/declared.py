"""The rooms' declarations, joined: lower rooms work with them and know no feature."""

from collections.abc import Mapping

import msgspec

from tillhouse.access.scopes import Scopes
from tillhouse.db.constraints import Constraints
from tillhouse.kit.events import EventType
from tillhouse.kit.values import Lists


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """All that is declared, by the rooms together."""

    # Every event that an endpoint can subscribe to, in the order of the catalogue.
    events: tuple[EventType, ...]
    scopes: Scopes
    # The scopes of each role, those that they grant included.
    roles: Mapping[str, frozenset[str]]
    constraints: Constraints
    # The names that a request may give, by the list that they are on.
    lists: Lists
