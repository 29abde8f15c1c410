"""The events of customers."""

from typing import Any

from tests.api import Api


async def told(client: Api) -> list[dict[str, Any]]:
    """The events of customers so far, the first one first."""
    path = "/v1/events/stream?events=contact.created,contact.updated"
    events = (await client.get(path, status=200)).data
    return sorted(events, key=lambda event: event["id"])
