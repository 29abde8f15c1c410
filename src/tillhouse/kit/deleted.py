"""The answer to every deletion."""

from uuid import UUID

import msgspec

from tillhouse.kit.clock import Timestamp


class Deleted(msgspec.Struct, frozen=True, rename="camel"):
    """A record that is gone, and since when."""

    id: UUID
    """The id of what was deleted."""
    deleted_at: Timestamp
