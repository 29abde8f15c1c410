"""Kinds of events that a room announces to other people's servers."""

import msgspec


class EventType(msgspec.Struct, frozen=True):
    """One kind of event: its name, its words in the catalogue, the type of its data."""

    name: str
    label: str
    group: str
    data: type[msgspec.Struct]

    @property
    def code(self) -> str:
        """The name as data of the type `ChangeData` repeat it: ORDER_CREATED."""
        return self.name.replace(".", "_").upper()
