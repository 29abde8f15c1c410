"""What the events of the catalogue look like: schema and sample of their data, by their types."""

from functools import cache
from typing import Any

from tillhouse.http.examples import example_of
from tillhouse.http.openapi import schema_of
from tillhouse.webhooks.catalogue import CATALOGUE, EventType
from tillhouse.webhooks.types import EventShown


@cache
def shown() -> tuple[EventShown, ...]:
    """Every event that an endpoint can subscribe to."""
    return tuple(map(_shown, CATALOGUE))


def sample_of(event_type: str) -> dict[str, Any]:
    """Data as an event of this type of the catalogue carries them; of nothing that there is."""
    return next(event.sample for event in shown() if event.type == event_type)


def _shown(event: EventType) -> EventShown:
    schema, components = schema_of(event.data)
    sample = example_of(schema, components)
    if "eventType" in sample:
        sample["eventType"] = event.name.replace(".", "_").upper()
    whole = {**schema, "$defs": components} if components else schema
    return EventShown(event.name, event.label, event.group, whole, sample)
