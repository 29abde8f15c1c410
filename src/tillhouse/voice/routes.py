"""The routes of voice: /v1/voice."""

from typing import Literal
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope


class Health(msgspec.Struct, frozen=True, rename="camel"):
    """What the key is bound to."""

    business_id: UUID
    environment: Literal["test", "live"]
    key_id: UUID


async def health(call: Call) -> Reply[Health]:
    """Verify the API key."""
    key = call.key
    return Reply("API key is valid", Health(key.business_id, call.book.environment, key.key_id))


ROUTES = (Route("GET", "/v1/voice/health", health, Scope("voice:read", keys_only=True)),)
