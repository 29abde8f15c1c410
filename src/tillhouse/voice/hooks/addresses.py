"""The address that a provider calls back at, for one attempt."""

from uuid import UUID

from tillhouse.kit.ids import BookId
from tillhouse.settings import Settings

PATH = "/hooks/{provider}/{book_id}/{attempt_id}"


def callback_url(
    settings: Settings, provider: str, book_id: BookId | UUID, attempt_id: UUID
) -> str | None:
    """The public address, which the signature covers; None where none can be reached."""
    if not settings.public_url.startswith("https://"):
        return None
    return f"{settings.public_url}/hooks/{provider}/{book_id}/{attempt_id}"
