"""What events look like: schema and sample of their data, by their types."""

from functools import cache

from tillhouse.http.examples import example_of
from tillhouse.http.openapi import schema_of
from tillhouse.kit.events import EventType
from tillhouse.webhooks.types import EventShown


@cache
def shown(event: EventType) -> EventShown:
    """An event with the schema of its data and a sample, which tells of nothing that there is."""
    schema, components = schema_of(event.data)
    sample = example_of(schema, components)
    if "eventType" in sample:
        sample["eventType"] = event.code
    whole = {**schema, "$defs": components} if components else schema
    return EventShown(event.name, event.label, event.group, whole, sample)
