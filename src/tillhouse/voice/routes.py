"""The routes of voice: /v1/voice."""

from typing import Literal

import msgspec

from tillhouse.access.call import Call
from tillhouse.http.route import Route, Scope
from tillhouse.kit.ids import BusinessId, KeyId


class Health(msgspec.Struct, frozen=True, rename="camel"):
    """The business and environment of the key."""

    business_id: BusinessId
    environment: Literal["test", "live"]
    key_id: KeyId


async def health(call: Call) -> Health:
    """The key of this call, which has passed its check."""
    key = call.key
    return Health(key.business_id, call.book.environment, key.key_id)


ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/voice/health", health, Scope("voice:read", keys_only=True),
          "Verify the API key", "API key is valid"),
)  # fmt: skip
