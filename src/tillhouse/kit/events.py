"""Kinds of events that a room announces to other people's servers."""

import msgspec
from msgspec.structs import force_setattr


class EventType(msgspec.Struct, frozen=True):
    """One kind of event: its name, its words in the catalogue, the type of its data."""

    name: str
    label: str
    group: str
    data: type[msgspec.Struct]
    # The name as data of the type `ChangeData` repeat it: ORDER_CREATED.
    code: str = ""

    def __post_init__(self) -> None:
        """Work out the code once, and not for each event."""
        force_setattr(self, "code", self.name.replace(".", "_").upper())
